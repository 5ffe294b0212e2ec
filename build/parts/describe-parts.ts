/**
 * The documents about the parts of an image or package: a software bill of materials in CycloneDX
 * 1.6 (https://cyclonedx.org/docs/1.6/json), and the notices of the licenses that the parts may
 * have. The same parts give the same bytes.
 */
import { type Part, sortParts } from './part.ts';
import { createHash } from 'node:crypto';

/** Returns the SBOM as JSON and the notices as text. @throws Error for a rejected license */
export function describeParts(product: Product, parts: readonly Part[]): { sbom: string; notices: string } {
  const rejected = findRejectedLicenses(parts);
  if (rejected.length > 0) throw new Error(rejected.join('\n'));
  return { sbom: formatSbom(product, parts), notices: formatNotices(parts) };
}

const line = '='.repeat(80);

/** The notices that the licenses require in a copy. Debian's notices are files of their own. */
const formatNotices = (parts: readonly Part[]): string =>
  [
    'ipledger contains the software below, each under its own license.\n',
    ...sortParts(parts)
      .filter(({ kind, notice }) => kind !== 'debian' && notice !== '')
      .map(({ name, version, license, notice }) => `${line}\n${name} ${version} (${license})\n\n${notice}\n`),
  ].join('\n');

/** Licenses that allow use and redistribution in a program of any license, with their notices. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'blessing',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BSL-1.0',
  'CC0-1.0',
  'ISC',
  'LicenseRef-public-domain',
  'MIT',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
]);

/** Whether an SPDX expression permits use: all operands of an AND, and any operand of an OR, do. */
export function isPermissive(expression: string): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const operand = (): boolean => {
    const token = tokens[at++];
    if (token !== '(') return token !== undefined && permissive.has(token);
    const inner = alternatives();
    return tokens[at++] === ')' && inner;
  };
  const conjunction = (): boolean => {
    let holds = operand();
    for (; tokens[at] === 'AND'; holds = operand() && holds) at++;
    return holds;
  };
  const alternatives = (): boolean => {
    let holds = conjunction();
    for (; tokens[at] === 'OR'; holds = conjunction() || holds) at++;
    return holds;
  };
  return alternatives() && at === tokens.length;
}

/**
 * The parts that the policy rejects, one line each. Parts that become part of our programs are
 * permissive. Debian's libraries and programs are separate, unmodified files, with their copyright
 * file beside them: debian-parts.ts lists each with its license.
 */
export const findRejectedLicenses = (parts: readonly Part[]): string[] =>
  parts
    .filter(({ kind, license }) => kind !== 'debian' && !isPermissive(license))
    .map(
      ({ purl, license }) => `${purl} has the license ${license === '' ? '(none)' : license}, which is not permissive`,
    );

/** The image or package that consists of the parts. */
export interface Product {
  readonly name: string;
  readonly version: string;
  readonly type: 'container' | 'application';
  /** Seconds since 1970. */
  readonly createdAt: number;
}

/** Returns the document as JSON. */
function formatSbom({ name, version, type, createdAt }: Product, parts: readonly Part[]): string {
  const sorted = sortParts(parts);
  const reference = `${name}@${version}`;
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${digestUuid(JSON.stringify([reference, createdAt, sorted]))}`,
    version: 1,
    metadata: {
      timestamp: new Date(createdAt * 1_000).toISOString(),
      component: { type, 'bom-ref': reference, name, version, licenses: [{ license: { id: 'Apache-2.0' } }] },
    },
    components: sorted.map((part) => ({
      type: part.name === 'node' && part.kind === 'node' ? 'platform' : 'library',
      'bom-ref': part.purl,
      name: part.name,
      version: part.version,
      licenses: [formatLicense(part.license)],
      purl: part.purl,
    })),
    dependencies: [{ ref: reference, dependsOn: sorted.map(({ purl }) => purl) }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Formats an SPDX id, a name that is not in the SPDX list, or an expression. */
function formatLicense(license: string): object {
  if (license.startsWith('LicenseRef-')) return { license: { name: license.slice('LicenseRef-'.length) } };
  return /\s/.test(license) ? { expression: license } : { license: { id: license } };
}

/** A UUID of version 8 (RFC 9562, section 5.8), which is made of a digest. */
function digestUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

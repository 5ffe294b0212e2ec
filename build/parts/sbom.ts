/** A software bill of materials in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json). The same parts give the same bytes. */
import { createHash } from 'node:crypto';
import { type Part, sortParts } from './part.ts';

/** The image or package that consists of the parts. */
export interface Product {
  readonly name: string;
  readonly version: string;
  readonly type: 'container' | 'application';
  /** Seconds since 1970. */
  readonly createdAt: number;
}

/** Returns the document as JSON. */
export function formatSbom({ name, version, type, createdAt }: Product, parts: readonly Part[]): string {
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

/** One SPDX id, a name that is not in the SPDX list, or an expression. */
function formatLicense(license: string): object {
  if (license.startsWith('LicenseRef-')) return { license: { name: license.slice('LicenseRef-'.length) } };
  return /\s/.test(license) ? { expression: license } : { license: { id: license } };
}

/** A UUID of version 8 (RFC 9562, section 5.8), which is made of a digest. */
function digestUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** The documents about the parts of an image or package. */
import { findRejectedLicenses } from './license-policy.ts';
import { type Part, sortParts } from './part.ts';
import { formatSbom, type Product } from './sbom.ts';

/** Returns the SBOM as JSON, and the notices as text. @throws Error if a part has a license that the policy rejects */
export function describeParts(product: Product, parts: readonly Part[]): { sbom: string; notices: string } {
  const rejected = findRejectedLicenses(parts);
  if (rejected.length > 0) throw new Error(rejected.join('\n'));
  return { sbom: formatSbom(product, parts), notices: formatNotices(parts) };
}

const line = '='.repeat(80);

/** The notices that the licenses require in a copy: one section for each part that has one. Debian's notices are files of their own. */
const formatNotices = (parts: readonly Part[]): string =>
  [
    'ipledger contains the software below, each under its own license.\n',
    ...sortParts(parts)
      .filter(({ kind, notice }) => kind !== 'debian' && notice !== '')
      .map(({ name, version, license, notice }) => `${line}\n${name} ${version} (${license})\n\n${notice}\n`),
  ].join('\n');

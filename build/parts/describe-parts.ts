/** The documents about the parts of an image or package. */
import { findRejectedLicenses } from './license-policy.ts';
import { formatNotices } from './notices.ts';
import type { Part } from './part.ts';
import { formatSbom, type Product } from './sbom.ts';

/** Returns the SBOM as JSON, and the notices as text. @throws Error if a part has a license that the policy rejects */
export function describeParts(product: Product, parts: readonly Part[]): { sbom: string; notices: string } {
  const rejected = findRejectedLicenses(parts);
  if (rejected.length > 0) throw new Error(rejected.join('\n'));
  return { sbom: formatSbom(product, parts), notices: formatNotices(parts) };
}

/** A third-party part of an image or a package, for the SBOM, the license check and the notices. */
export interface Part {
  readonly kind: 'npm' | 'go' | 'debian' | 'node';
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  /** Package URL (https://github.com/package-url/purl-spec). */
  readonly purl: string;
  /** The text of its license and its copyright notice; '' if another part contains it. */
  readonly notice: string;
}

/** Sorts by purl and removes duplicates. */
export function sortParts(parts: readonly Part[]): Part[] {
  const byPurl = new Map(parts.map((part) => [part.purl, part]));
  return [...byPurl.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
}

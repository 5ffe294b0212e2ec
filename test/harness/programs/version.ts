/** Versions of programs: major and minor. */

export type Version = readonly [major: number, minor: number];

/** A range: `from` and all versions before `below`. */
export interface VersionRange {
  readonly from: Version;
  readonly below?: Version;
}

/** Parses the first "1.2" or "v1.2.3" in a text; undefined when there is none. */
export function parseVersion(text: string): Version | undefined {
  const match = /(?:^|[^\d.])v?(\d+)\.(\d+)/.exec(text);
  return match ? [Number(match[1]), Number(match[2])] : undefined;
}

/** Returns a negative number when `a` is older, a positive number when it is newer, else 0. */
export function compareVersions(a: Version, b: Version): number {
  return a[0] - b[0] || a[1] - b[1];
}

export function isWithin(version: Version, { from, below }: VersionRange): boolean {
  return compareVersions(version, from) >= 0 && (!below || compareVersions(version, below) < 0);
}

/** Formats the range: "3.6 or later", "1.36", "1.35 to 1.37". */
export function describeRange({ from, below }: VersionRange): string {
  if (!below) return `${from.join('.')} or later`;
  const last = [below[0], below[1] - 1];
  return last.join('.') === from.join('.') ? from.join('.') : `${from.join('.')} to ${last.join('.')}`;
}

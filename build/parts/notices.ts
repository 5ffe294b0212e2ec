/** The notices that the licenses of third-party parts require in a copy. */
import { type Part, sortParts } from './part.ts';

const line = '='.repeat(80);

/** One section for each part that has a notice. Debian's notices are files of their own. */
export const formatNotices = (parts: readonly Part[]): string =>
  [
    'ipledger contains the software below, each under its own license.\n',
    ...sortParts(parts)
      .filter(({ kind, notice }) => kind !== 'debian' && notice !== '')
      .map(({ name, version, license, notice }) => `${line}\n${name} ${version} (${license})\n\n${notice}\n`),
  ].join('\n');

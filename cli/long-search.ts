/** Who waits for a search through a long log is told why, and what would spare it. */
import type { Position } from '../proto/ipledger.ts';
import type { IndexedOptions } from './verb.ts';

/** Takes an allocator some seconds. */
const eventsLong = 200_000;

/** To be told of each page, how far back the log was looked through for it. Says it once, on stderr. */
export function longSearch({ index }: IndexedOptions): (at: Position | undefined, searchedSeq: number) => void {
  let isSaid = index !== undefined;
  return (at, searchedSeq) => {
    const looked = (at?.seq ?? 0) - searchedSeq + 1;
    if (isSaid || looked < eventsLong) return;
    isSaid = true;
    process.stderr.write(
      `looked through ${looked} events so far, and going on: the read model (--index or IPLEDGER_INDEX) would know at once\n`,
    );
  };
}

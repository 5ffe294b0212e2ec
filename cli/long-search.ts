/** Tells a person who waits for a search through a long log why it takes so long, and what would be faster. */
import type { Position } from '../proto/ipledger.ts';
import type { IndexedOptions } from './verb.ts';

/** A search over so many events takes an allocator some seconds. */
const eventsLong = 200_000;

/** To be called with each page, and how far back the log was searched for it. Speaks once, on stderr. */
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

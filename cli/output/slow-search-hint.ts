/** Explains a slow search of a long log, and names the faster way. */
import type { Position } from '../../proto/generated/ipledger.ts';

/** An allocator needs seconds to search this many events. */
const longSearchEvents = 200_000;

/** Call the result with each page: the ledger's position, and the oldest event searched so far. It prints once, on stderr. */
export function createSlowSearchHint({
  readModel,
}: {
  readonly readModel?: string;
}): (position: Position | undefined, searchedDownToSeq: number) => void {
  let isPrinted = readModel !== undefined;
  return (position, searchedDownToSeq) => {
    const searched = (position?.seq ?? 0) - searchedDownToSeq + 1;
    if (isPrinted || searched < longSearchEvents) return;
    isPrinted = true;
    process.stderr.write(
      `${searched} events searched so far; the read model (--read-model or IPLEDGER_READ_MODEL) has an index and answers immediately\n`,
    );
  };
}

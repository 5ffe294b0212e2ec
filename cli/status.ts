/** `ipledger status`: where the ledger stands, and how far back it can be asked. */
import type { Command } from 'commander';
import { type GetStatusReply, LedgerService } from '../proto/ipledger.ts';
import { columnsOf, type Listing } from './table.ts';
import { showTime } from './times.ts';
import { addVerb, answer, type VerbOptions } from './verb.ts';

export function addStatus(program: Command): void {
  addVerb(program, 'status', 'where the ledger stands, and how far back it can be asked').action(
    (options: VerbOptions) =>
      answer(options, async (allocator) => {
        const reply = await allocator.ask(LedgerService.getStatus, {});
        return {
          content: reply,
          table: (zone, width) => told(reply, (instant) => showTime(instant, zone, width === 'wide')),
          listing: () => listingOf(reply),
        };
      }),
  );
}

const columns = columnsOf(
  'LEDGER',
  'EPOCH',
  'SEQ',
  'AT',
  'HASH',
  'OLDEST SEQ',
  'OLDEST AT',
  'LIVE FROM SEQ',
  'FROZEN AT',
  'BY',
);

/** One row of the same. */
function listingOf({ position, ledger, at, oldestSeq, oldestAt, liveFromSeq, freeze }: GetStatusReply): Listing {
  const { epoch = 0, seq = 0, hash = '' } = position ?? {};
  const row = [ledger, epoch, seq, at, hash, oldestSeq, oldestAt, liveFromSeq, freeze?.at ?? '', freeze?.by ?? ''];
  return { columns, rows: [row.map(String)] };
}

/** One fact a line, so that a person reads it at a glance and `grep` finds it. */
function told(
  { position, ledger, at, oldestSeq, oldestAt, liveFromSeq, freeze }: GetStatusReply,
  when: (instant: string) => string,
): string {
  const event = (seq: number, instant: string): string => `event ${seq}, ${when(instant)}`;
  const facts = [
    ['ledger', `${ledger}, epoch ${position?.epoch ?? 0}`],
    ['last', `${event(position?.seq ?? 0, at)}, hash ${position?.hash.slice(0, 12)}`],
    ['history since', oldestSeq === 0 ? 'nothing happened yet' : event(oldestSeq, oldestAt)],
    ['in etcd since', `event ${liveFromSeq}`],
    ['frozen', freeze ? `since ${when(freeze.at)}, by ${freeze.by}: see ipledger recover` : 'no'],
  ] as const;
  return facts.map(([name, fact]) => `${`${name}:`.padEnd(15)}${fact}\n`).join('');
}

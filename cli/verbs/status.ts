/**
 * `ipledger status`: prints why nothing can be written, the position of the ledger, its oldest
 * event, a freeze, how full etcd is, and ledger time.
 */
import { describeObstacle } from '../output/format.ts';
import type { Command } from 'commander';
import { type GetStatusReply, LedgerService } from '../../proto/generated/ipledger.ts';
import { formatStorageUse } from '../output/storage-use.ts';
import { textColumns, type Listing } from '../output/table.ts';
import { describeDifference } from '../time/ledger-time.ts';
import { formatTime } from '../time/times.ts';
import { addVerbOptions, runAndPrint, type VerbOptions } from '../program/verb.ts';

export function defineStatus(verb: Command): void {
  addVerbOptions(verb).action((options: VerbOptions) =>
    runAndPrint(options, async (allocator) => {
      const reply = await allocator.call(LedgerService.getStatus, {});
      return {
        content: reply,
        table: (zone, width) => formatStatus(reply, (instant) => formatTime(instant, zone, width === 'wide')),
        listing: () => createListing(reply),
      };
    }),
  );
}

const columns = textColumns(
  'LEDGER',
  'EPOCH',
  'SEQ',
  'AT',
  'HASH',
  'OLDEST SEQ',
  'OLDEST AT',
  'LOG START SEQ',
  'FROZEN AT',
  'BY',
  'CANNOT WRITE',
  'USED BYTES',
  'QUOTA BYTES',
  'DAYS LEFT',
);

function createListing({
  position,
  ledger,
  at,
  oldestSeq,
  oldestAt,
  logStartSeq,
  freeze,
  cannotWrite,
  storage,
}: GetStatusReply): Listing {
  const { epoch = 0, seq = 0, hash = '' } = position ?? {};
  const row = [
    ledger,
    epoch,
    seq,
    at,
    hash,
    oldestSeq,
    oldestAt,
    logStartSeq,
    freeze?.reportedAt ?? '',
    freeze?.reportedBy ?? '',
    cannotWrite?.reason ?? '',
    storage?.usedBytes ?? '',
    storage?.quotaBytes ?? '',
    storage?.daysLeft ?? '',
  ];
  return { columns, rows: [row.map(String)] };
}

/** Prints one fact per line, so that `grep` finds it. */
function formatStatus(
  { position, ledger, at, oldestSeq, oldestAt, logStartSeq, freeze, ledgerTime, cannotWrite, storage }: GetStatusReply,
  formatInstant: (instant: string) => string,
): string {
  const formatEvent = (seq: number, instant: string): string => `event ${seq}, ${formatInstant(instant)}`;
  const facts = [
    ...(cannotWrite ? [['cannot write', describeObstacle(cannotWrite, formatInstant)] as const] : []),
    ['ledger', `${ledger}, epoch ${position?.epoch ?? 0}`],
    ['last', `${formatEvent(position?.seq ?? 0, at)}, hash ${position?.hash.slice(0, 12)}`],
    ['history since', oldestSeq === 0 ? 'no event yet' : formatEvent(oldestSeq, oldestAt)],
    ['in etcd since', `event ${logStartSeq}`],
    ...(storage ? [['etcd', formatStorageUse(storage)] as const] : []),
    [
      'frozen',
      freeze ? `since ${formatInstant(freeze.reportedAt)}, by ${freeze.reportedBy}: run ipledger recover` : 'no',
    ],
    ...(ledgerTime === '' ? [] : [['ledger time', describeLedgerTime(ledgerTime, formatInstant)] as const]),
  ] as const;
  return facts.map(([name, fact]) => `${`${name}:`.padEnd(15)}${fact}\n`).join('');
}

function describeLedgerTime(ledgerTime: string, formatInstant: (instant: string) => string): string {
  const difference = describeDifference(ledgerTime);
  return `${formatInstant(ledgerTime)}, ${difference === undefined ? 'as the clock here' : `${difference} the clock here: see the runbook IpledgerLedgerTimeAhead`}`;
}

/** What an export holds and a restored ledger lacks: above all what was done by hand, as the commands that do it again. */
import { LedgerService } from '../../proto/ipledger.ts';
import { parseEvent, type StoredEvent } from '../../services/allocator/ledger/chain.ts';
import type { Allocator } from '../allocator.ts';
import { command } from '../check/say.ts';
import { Failure } from '../failure.ts';
import { linesOf } from './lines.ts';

export interface Remembered {
  /** How many events of each type the ledger lacks. */
  readonly types: Readonly<Record<string, number>>;
  /** What operators did among them, in their order. */
  readonly commands: readonly string[];
}

/**
 * The events of the export from the first on that is not in the ledger.
 * @throws Failure for what is no export of this ledger, or begins behind the backup; IpledgerError
 */
export async function rememberedIn(file: string, allocator: Pick<Allocator, 'listen'>): Promise<Remembered> {
  const types: Record<string, number> = {};
  const commands: string[] = [];
  for await (const event of lacking(linesOf(file), file, allocator)) {
    const { type } = event.envelope;
    types[type] = (types[type] ?? 0) + 1;
    commands.push(...again(event));
  }
  return { types, commands };
}

async function* lacking(
  lines: AsyncIterable<string>,
  file: string,
  allocator: Pick<Allocator, 'listen'>,
): AsyncGenerator<StoredEvent> {
  let ledger: AsyncGenerator<string> | undefined;
  let [previous, parted]: [StoredEvent | undefined, boolean] = [undefined, false];
  try {
    for await (const line of lines) {
      const event = parseEvent(line);
      const { seq, prev } = event.envelope;
      if (previous && prev !== previous.hash) throw new Failure('usage', `${file}: event ${seq} does not follow`);
      ledger ??= linesOfLedger(allocator, seq);
      parted ||= (await ledger.next()).value !== line;
      if (parted && !previous)
        throw new Failure('usage', `${file} and the ledger have no event in common: export from before the backup on`);
      previous = event;
      if (parted) yield event;
    }
  } finally {
    await ledger?.return(undefined);
  }
}

async function* linesOfLedger(allocator: Pick<Allocator, 'listen'>, fromSeq: number): AsyncGenerator<string> {
  for await (const { lines } of allocator.listen(LedgerService.export, { fromSeq })) yield* lines;
}

/** The command that does it again; none for what `recover` brings back from the cluster, or what cannot be brought back. */
function again({ envelope: { seq, at, actor }, sequenced }: StoredEvent): string[] {
  const { subnet } = sequenced;
  const told = (words: readonly string[], reason: string): string[] => [
    command(['ipledger', ...words, '--subnet', subnet, '--reason', reason], `event ${seq}, ${at}, by ${actor}`),
  ];
  switch (sequenced.type) {
    case 'AddressReserved': {
      const { addresses, reservedFor, mac, reason } = sequenced.data;
      return told(['reserve', ...addresses, '--for', reservedFor, ...(mac === '' ? [] : ['--mac', mac])], reason);
    }
    case 'ReservationCancelled': {
      const { addresses, reservedFor, reason } = sequenced.data;
      return told(['unreserve', ...addresses, '--for', reservedFor, '--yes'], reason);
    }
    case 'AddressQuarantined': {
      const { address, seenMac, seenAt, reason } = sequenced.data;
      const seen = [
        ...(seenMac === '' ? [] : ['--seen-mac', seenMac]),
        ...(seenAt === '' ? [] : ['--seen-at', seenAt]),
      ];
      return told(['quarantine', address, ...seen], reason);
    }
    case 'QuarantineLifted':
      return told(['lift', sequenced.data.address, '--yes'], sequenced.data.reason);
    default:
      return [];
  }
}

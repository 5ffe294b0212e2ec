/**
 * Finds the events of an export that a restored ledger lacks: the allocations that they leave,
 * which `recover` compares with the cluster, and the commands that repeat the operators' part.
 */
import { attachmentKey as attachmentKeyOf } from '../../import/observed-attachment.ts';
import type { ExportedAllocation } from './add-evidence.ts';
import { LedgerService } from '../../../proto/generated/ipledger.ts';
import type {
  AddressAllocated,
  AddressTransferred,
  EventOf,
  EventType,
  Sequenced,
} from '../../../ledger/domain/events/event.ts';
import { parseEvent, type StoredEvent } from '../../../ledger/log/chain/chain.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { formatShellCommand } from '../../shell-command.ts';
import { CliError } from '../../cli-error.ts';
import { readExportLines } from '../../export-file/read-lines.ts';

export interface MissingEvents {
  /** The number of missing events by type. */
  readonly types: Readonly<Record<string, number>>;
  /** The operators' commands among them, in order. */
  readonly commands: readonly string[];
  /** The allocations among them, except for released ones. */
  readonly allocations: readonly ExportedAllocation[];
}

/**
 * Finds the events of the export from the first that differs from the ledger.
 * @throws CliError for a file without a common event; IpledgerError of the allocator.
 */
export async function findMissingEvents(file: string, allocator: Pick<LedgerClient, 'stream'>): Promise<MissingEvents> {
  const types: Record<string, number> = {};
  const commands: string[] = [];
  const allocations = new Map<string, ExportedAllocation>();
  for await (const event of readMissing(readExportLines(file), file, allocator)) {
    const { type } = event.sequenced;
    types[type] = (types[type] ?? 0) + 1;
    const command = recoveryOf(type)(event.sequenced, allocations);
    if (command) commands.push(formatCommand(event, command));
  }
  return { types, commands, allocations: [...allocations.values()] };
}

/** Processes a lost event. Returns an operator's command to repeat. */
type Recovery<Type extends EventType> = (
  event: Sequenced<EventOf<Type>>,
  allocations: Map<string, ExportedAllocation>,
) => OperatorCommand | undefined;

interface OperatorCommand {
  readonly words: readonly string[];
  readonly reason: string;
}

/** The objects of the cluster, which `recover` and the pod-watcher apply again. */
const appliedAgain = (): undefined => undefined;
/** The bindings: agents bind running containers again, and `recover` reads binding folders. */
const boundAgain = (): undefined => undefined;
/** The work of the allocator, which it repeats when it is due. */
const repeatedByAllocator = (): undefined => undefined;
/** An event that changed no address. */
const forTheRecord = (): undefined => undefined;

const recoveries: { readonly [Type in EventType]: Recovery<Type> } = {
  LedgerCreated: forTheRecord,
  SubnetConfigured: appliedAgain,
  SubnetRetired: appliedAgain,
  PoolConfigured: appliedAgain,
  PoolRetired: appliedAgain,
  AddressAllocated: addAllocation,
  AddressTransferred: addAllocation,
  AddressReleased: ({ data: { attachment, alloc } }, allocations) => {
    const key = attachmentKeyOf(attachment);
    if (allocations.get(key)?.seq === alloc) allocations.delete(key);
    return undefined;
  },
  AllocationRefused: forTheRecord,
  AddressBound: boundAgain,
  AddressUnbound: boundAgain,
  AddressReserved: ({ data: { addresses, reservedFor, mac, reason } }) => ({
    words: ['reserve', ...addresses, '--for', reservedFor, ...(mac === '' ? [] : ['--mac', mac])],
    reason,
  }),
  ReservationCancelled: ({ data: { addresses, reservedFor, reason } }) => ({
    words: ['unreserve', ...addresses, '--for', reservedFor, '--yes'],
    reason,
  }),
  AddressQuarantined: ({ data: { address, seenMac, seenAt, reason } }) => {
    const sighting = [
      ...(seenMac === '' ? [] : ['--seen-mac', seenMac]),
      ...(seenAt === '' ? [] : ['--seen-on', seenAt]),
    ];
    return { words: ['quarantine', address, ...sighting], reason };
  },
  QuarantineLifted: ({ data: { address, reason } }) => ({ words: ['unquarantine', address, '--yes'], reason }),
  ClaimsDropped: repeatedByAllocator,
  SegmentSealed: repeatedByAllocator,
  HistoryDropped: repeatedByAllocator,
  LedgerRestored: forTheRecord,
  KeyRotated: repeatedByAllocator,
};

/** The cast holds because the table pairs each type with its own recovery. */
const recoveryOf = (type: EventType): Recovery<EventType> => recoveries[type] as Recovery<EventType>;

function addAllocation(
  { seq, subnet, data }: Sequenced<AddressAllocated | AddressTransferred>,
  allocations: Map<string, ExportedAllocation>,
): undefined {
  const { attachment, uid, addresses, mac, interface: name } = data;
  const granted = { subnet, addresses: addresses.map(({ address }) => address), mac, interface: name };
  allocations.set(attachmentKeyOf(attachment), { ...attachment, ...granted, uid, seq });
}

function formatCommand({ envelope: { seq, at, actor }, sequenced }: StoredEvent, command: OperatorCommand): string {
  const { words, reason } = command;
  return formatShellCommand(
    ['ipledger', ...words, '--subnet', sequenced.subnet, '--reason', reason],
    `event ${seq}, ${at}, by ${actor}`,
  );
}

async function* readMissing(
  lines: AsyncIterable<string>,
  file: string,
  allocator: Pick<LedgerClient, 'stream'>,
): AsyncGenerator<StoredEvent> {
  let ledger: AsyncGenerator<string> | undefined;
  let [previous, isMissing]: [StoredEvent | undefined, boolean] = [undefined, false];
  try {
    for await (const line of lines) {
      const event = parseEvent(line);
      const { seq, prev } = event.envelope;
      if (previous && prev !== previous.hash)
        throw new CliError('usage', `${file} is damaged: event ${seq} does not follow the event before`);
      ledger ??= readLedgerLines(allocator, seq);
      isMissing ||= (await ledger.next()).value !== line;
      if (isMissing && !previous)
        throw new CliError(
          'usage',
          `${file} and the ledger have no event in common: use an export that starts before the backup`,
        );
      previous = event;
      if (isMissing) yield event;
    }
  } finally {
    await ledger?.return(undefined);
  }
}

async function* readLedgerLines(allocator: Pick<LedgerClient, 'stream'>, fromSeq: number): AsyncGenerator<string> {
  for await (const { lines } of allocator.stream(LedgerService.export, { fromSeq })) yield* lines;
}

/**
 * Finds the events of an export that a restored ledger lacks: the allocations that they leave, which `recover` compares with the
 * cluster, and the commands that repeat the operators' part.
 */
import { attachmentKey as attachmentKeyOf } from '../../import/observed-attachment.ts';
import type { ExportedAllocation } from './add-evidence.ts';
import { LedgerService } from '../../../proto/generated/ipledger.ts';
import { parseEvent, type StoredEvent } from '../../../ledger/log/chain/chain.ts';
import type { LedgerClient } from '../../clients/ledger-client.ts';
import { formatShellCommand } from '../../output/shell-command.ts';
import { CliError } from '../../program/cli-error.ts';
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
 * The events of the export from the first that differs from the ledger.
 * @throws CliError for a file without a common event; IpledgerError of the allocator.
 */
export async function findMissingEvents(file: string, allocator: Pick<LedgerClient, 'stream'>): Promise<MissingEvents> {
  const types: Record<string, number> = {};
  const commands: string[] = [];
  const allocations = new Map<string, ExportedAllocation>();
  for await (const event of readMissing(readExportLines(file), file, allocator)) {
    const { type } = event.envelope;
    types[type] = (types[type] ?? 0) + 1;
    commands.push(...formatCommand(event));
    applyToAllocations(allocations, event);
  }
  return { types, commands, allocations: [...allocations.values()] };
}

function applyToAllocations(
  allocations: Map<string, ExportedAllocation>,
  { envelope: { seq }, sequenced }: StoredEvent,
): void {
  const { type, subnet } = sequenced;
  if (type === 'AddressAllocated' || type === 'AddressTransferred') {
    const { attachment, uid, addresses, mac, interface: name } = sequenced.data;
    const granted = { subnet, addresses: addresses.map(({ address }) => address), mac, interface: name };
    allocations.set(attachmentKeyOf(attachment), { ...attachment, ...granted, uid, seq });
  } else if (type === 'AddressReleased') {
    const { attachment, alloc } = sequenced.data;
    const key = attachmentKeyOf(attachment);
    if (allocations.get(key)?.seq === alloc) allocations.delete(key);
  }
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

/** The command that repeats an operator's event. Empty for events that `recover` restores from the cluster, or that cannot be restored. */
function formatCommand({ envelope: { seq, at, actor }, sequenced }: StoredEvent): string[] {
  const { subnet } = sequenced;
  const format = (words: readonly string[], reason: string): string[] => [
    formatShellCommand(
      ['ipledger', ...words, '--subnet', subnet, '--reason', reason],
      `event ${seq}, ${at}, by ${actor}`,
    ),
  ];
  switch (sequenced.type) {
    case 'AddressReserved': {
      const { addresses, reservedFor, mac, reason } = sequenced.data;
      return format(['reserve', ...addresses, '--for', reservedFor, ...(mac === '' ? [] : ['--mac', mac])], reason);
    }
    case 'ReservationCancelled': {
      const { addresses, reservedFor, reason } = sequenced.data;
      return format(['unreserve', ...addresses, '--for', reservedFor, '--yes'], reason);
    }
    case 'AddressQuarantined': {
      const { address, seenMac, seenAt, reason } = sequenced.data;
      const sighting = [
        ...(seenMac === '' ? [] : ['--seen-mac', seenMac]),
        ...(seenAt === '' ? [] : ['--seen-on', seenAt]),
      ];
      return format(['quarantine', address, ...sighting], reason);
    }
    case 'QuarantineLifted':
      return format(['unquarantine', sequenced.data.address, '--yes'], sequenced.data.reason);
    default:
      return [];
  }
}

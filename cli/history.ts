/** `ipledger history ADDRESS`: what happened to one address, newest first. */
import { type Command, InvalidArgumentError } from 'commander';
import { type Attachment, type Event, LedgerService, type Position } from '../proto/ipledger.ts';
import type { Allocator } from './allocator.ts';
import { causeText } from './cause.ts';
import { table } from './table.ts';
import { addVerb, answer, type VerbOptions } from './verb.ts';

const pageSizeMost = 1_000;
const limitMost = 1_000_000;

/** What is long and seldom looked at stands last, so that a terminal of 120 columns shows the why. */
const head = ['SEQ', 'TIME', 'EVENT', 'POD', 'DETAIL', 'SUBNET', 'UID', 'ACTOR'];

interface HistoryOptions extends VerbOptions {
  readonly subnet?: string;
  readonly limit: number;
}

interface Story {
  readonly position: Position | undefined;
  readonly events: Event[];
  /** Whether there are older ones than these. */
  readonly more: boolean;
}

export function addHistory(program: Command): void {
  addVerb(program, 'history <address>', 'what happened to one address, newest first')
    .option('--subnet <name>', 'only in this subnet; else in all that know the address')
    .option('--limit <count>', 'at most so many events', parseLimit, 100)
    .action((address: string, { subnet, limit, ...options }: HistoryOptions) =>
      answer(options, async (allocator) => {
        const story = await read(allocator, { address, subnet }, limit);
        return {
          content: story,
          table: () => table(head, story.events.map(row)),
          note: story.more ? `older events are left out: --limit is ${limit}` : undefined,
        };
      }),
    );
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!/^\d+$/.test(text) || limit < 1 || limit > limitMost)
    throw new InvalidArgumentError(`It is a number from 1 to ${limitMost}.`);
  return limit;
}

async function read(
  allocator: Allocator,
  asked: { address: string; subnet: string | undefined },
  limit: number,
): Promise<Story> {
  const events: Event[] = [];
  let position: Position | undefined;
  let pageToken = '';
  do {
    const pageSize = Math.min(pageSizeMost, limit - events.length);
    const reply = await allocator.ask(LedgerService.history, { ...asked, pageSize, pageToken });
    position ??= reply.position;
    events.push(...reply.events);
    // A page without events would never bring us to the limit
    pageToken = reply.events.length > 0 ? reply.nextPageToken : '';
  } while (pageToken !== '' && events.length < limit);
  return { position, events, more: pageToken !== '' };
}

function row(event: Event): string[] {
  const { attachment, uid, detail } = told(event);
  const pod = attachment ? `${attachment.namespace}/${attachment.pod}` : '';
  return [String(event.seq), event.at, event.type, pod, detail, event.subnet, uid ?? '', event.actor];
}

/** Whom an event is about, and why it happened or what it did. */
function told(event: Event): { attachment?: Attachment | undefined; uid?: string; detail: string } {
  const { addressAllocated, addressTransferred, addressReleased, addressBound, addressUnbound } = event;
  if (addressAllocated) return { ...addressAllocated, detail: causeText(addressAllocated.cause) };
  if (addressTransferred) return { ...addressTransferred, detail: `from uid ${addressTransferred.fromUid}` };
  if (addressReleased)
    return { ...addressReleased, detail: join(': ', causeText(addressReleased.cause), addressReleased.evidence) };
  if (addressBound) {
    const { interface: name, node, containerId } = addressBound;
    return { ...addressBound, detail: `${name} of container ${short(containerId)} on ${node}` };
  }
  if (addressUnbound) {
    const { interface: name, containerId, cause } = addressUnbound;
    // That its container was deleted goes without saying
    const usual = ['UNBIND_CAUSE_UNSPECIFIED', 'UNBIND_CAUSE_CONTAINER_DELETED'].includes(cause);
    const why = usual ? '' : causeText(cause);
    return { ...addressUnbound, detail: join(': ', why, `${name} of container ${short(containerId)}`) };
  }
  return { detail: withoutPod(event) || ofTheLedger(event) };
}

/** What an event says that is about an address, and about no Pod. */
function withoutPod({ addressReserved, reservationCancelled, addressQuarantined, quarantineLifted }: Event): string {
  if (addressReserved) return join(': ', `for ${addressReserved.reservedFor}`, addressReserved.reason);
  if (reservationCancelled)
    return join(': ', `no more for ${reservationCancelled.reservedFor}`, reservationCancelled.reason);
  if (addressQuarantined) {
    const { seenMac, seenAt, reason } = addressQuarantined;
    const who = seenMac === '' && seenAt === '' ? '' : join(' at ', `${seenMac || 'somebody'} seen`, seenAt);
    return join(': ', who, reason);
  }
  return quarantineLifted?.reason ?? '';
}

/** What an event says of the ledger itself. */
function ofTheLedger({ segmentSealed, ledgerRestored, keyRotated }: Event): string {
  if (segmentSealed) return `events ${segmentSealed.from} to ${segmentSealed.to} are in ${segmentSealed.archive}`;
  if (ledgerRestored) {
    const { epoch, seq, lostSeq, reason } = ledgerRestored;
    const lost = lostSeq > seq ? `events ${seq + 1} to ${lostSeq} at least are lost` : '';
    return join(': ', join(', ', `epoch ${epoch}, found to end at ${seq}`, lost), reason);
  }
  return keyRotated ? `checkpoints are signed with key ${keyRotated.keyId}` : '';
}

const join = (between: string, ...parts: string[]): string => parts.filter((part) => part !== '').join(between);

/** As container runtimes print it. */
const short = (containerId: string): string => containerId.slice(0, 12);

/**
 * The envelope of an event, its bytes, and the hash chain. `prev` of each event is the SHA-256 of
 * the stored bytes of the previous event, and the head has the hash of the last one. So the chain
 * shows every edit, gap and swap.
 */
import { hash as hashOf } from 'node:crypto';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Event, Sequenced } from '../../domain/events/event.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import { isEventType } from '../../domain/events/registry.ts';
import { faultInData } from './event-shapes.ts';
import { faultFinder } from './shape.ts';
import { formatTime, parseCanonicalInstant } from './instant.ts';
import { downcast, type StoredData, upcast } from './upcast.ts';
import { type EventVersion, eventVersions } from '../../domain/events/schema-version.ts';

const newestVersion = eventVersions.at(-1) as EventVersion;

/** The position of the ledger after an event. Immutable. */
export interface Head {
  /** ULID of the ledger; '' before its first event. */
  readonly ledger: string;
  /** The number of restores, plus one. */
  readonly epoch: number;
  readonly seq: Seq;
  /** SHA-256 of the bytes of the last event, hexadecimal; '' before the first. */
  readonly hash: string;
  /** The time of the last event, milliseconds since 1970. */
  readonly at: number;
  /** During a replay, the number of claims written so far. See docs/decisions/0042. */
  readonly claims?: number;
}

/** An upper limit of the length of a head's text. */
export const maxHeadBytes = 512;

/** The head before the first event. */
export const emptyHead: Head = { ledger: '', epoch: 1, seq: 0, hash: '', at: 0 };

/** An event as stored. The order of the fields is that of the stored text. */
export interface Envelope {
  readonly v: EventVersion;
  readonly seq: Seq;
  /** ULID of this event. */
  readonly id: string;
  /** ULID of the command. The events of a command are applied together. */
  readonly cmd: string;
  /** `[n, of]`: the event is number n of the events of its command. */
  readonly part: readonly [number, number];
  readonly type: Event['type'];
  readonly subnet: string;
  /** RFC 3339 with milliseconds. */
  readonly at: string;
  /** The time of the machine's clock, if it differs from the ledger time. */
  readonly clock?: string;
  readonly actor: string;
  /** The event's data in the format of version `v`. */
  readonly data: StoredData;
  /** The previous event of each address that this event changes; 0 for none. */
  readonly before: Readonly<Record<string, Seq>>;
  readonly prev: string;
}

/** An event and the values computed from its bytes. */
export interface StoredEvent {
  readonly envelope: Envelope;
  /** The exact stored line. */
  readonly text: string;
  /** SHA-256 of `text`. */
  readonly hash: string;
  /** The event as `evolve` takes it. */
  readonly sequenced: Sequenced;
}

/** The fields of an envelope that do not follow from the event and the head. */
export interface EnvelopeFields {
  readonly id: string;
  readonly command: string;
  readonly part: readonly [number, number];
  readonly at: number;
  /** The machine's clock. */
  readonly clock: number;
  readonly actor: string;
  readonly before: Readonly<Record<string, Seq>>;
  /** Default: the newest version. */
  readonly version?: EventVersion;
}

/** Creates the next event of the chain, and the head after it. */
export function chainEvent(
  head: Head,
  event: Event,
  { id, command, part, at, clock, actor, before, version = newestVersion }: EnvelopeFields,
): { stored: StoredEvent; head: Head } {
  const seq = head.seq + 1;
  const data = downcast(version, event);
  const envelope: Envelope = {
    v: version,
    seq,
    id,
    cmd: command,
    part,
    type: event.type,
    subnet: event.subnet,
    at: formatTime(at),
    ...(clock !== at && { clock: new Date(clock).toISOString() }),
    actor,
    data,
    before,
    prev: head.hash,
  };
  const text = JSON.stringify(envelope);
  const hash = sha256(text);
  const stored = { envelope, text, hash, sequenced: sequencedOf(envelope, at) };
  return { stored, head: headAfter(head, stored) };
}

/** The head after an event. LedgerCreated names the ledger, LedgerRestored begins an epoch. */
function headAfter({ ledger, epoch }: Head, { hash, sequenced }: StoredEvent): Head {
  const { type, data, seq, at } = sequenced;
  return {
    ledger: type === 'LedgerCreated' ? data.ledger : ledger,
    epoch: type === 'LedgerRestored' ? data.epoch : epoch,
    seq,
    hash,
    at,
  };
}

/** An event that only a newer program can read. */
export class NewerEventError extends IpledgerError {
  readonly prev: string;
  readonly hash: string;

  constructor(message: string, { prev }: Envelope, hash: string) {
    super('LEDGER_DAMAGED', `${message}: upgrade this program`);
    this.prev = prev;
    this.hash = hash;
  }
}

/**
 * Parses a stored line. A reader stops at a line that it cannot read, because it never skips an
 * event.
 * @throws IpledgerError LEDGER_DAMAGED for a line that is not an event; NewerEventError for an
 * event of a newer program
 */
export function parseEvent(text: string): StoredEvent {
  return parseHashedEvent(text, sha256(text));
}

/** Parses an event whose line has this SHA-256. */
export function parseHashedEvent(text: string, hash: string): StoredEvent {
  const { envelope, at } = parseEnvelope(text, hash);
  const sequenced = withReadableData(envelope, () => sequencedOf(envelope, at));
  const fault = faultInData(sequenced.type, sequenced.data);
  if (fault !== undefined)
    throw damaged(`event ${envelope.seq} has not the data of an event of type ${envelope.type}: data${fault}`);
  return { envelope, text, hash, sequenced };
}

/**
 * Does work on the data of an event. Its type promises a form that only another program breaks.
 * @throws IpledgerError LEDGER_DAMAGED that names the event, for any other error
 */
export function withReadableData<Result>({ seq, type }: Pick<Envelope, 'seq' | 'type'>, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof IpledgerError) throw error;
    throw damaged(`event ${seq} has not the data of an event of type ${type}`, error);
  }
}

export const hashOfLine = (text: string): string => sha256(text);

/** The writer also uses the upcast data, so that it has the same state as every reader. */
const sequencedOf = ({ v, type, subnet, data, seq }: Envelope, at: number): Sequenced =>
  ({ type, subnet, data: upcast(v, type, data), seq, at }) as Sequenced;

/** Parses the envelope, and its time in milliseconds since 1970. */
function parseEnvelope(text: string, hash: string): { readonly envelope: Envelope; readonly at: number } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw damaged(`a line of the log is not JSON: ${text.slice(0, 200)}`, error);
  }
  const envelope = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Envelope;
  const { v, seq, type, data, before } = envelope;
  const at = typeof envelope.at === 'string' ? timeOf(envelope.at) : Number.NaN;
  const isReadable = eventVersions.includes(v);
  if (Number.isSafeInteger(v) && v > newestVersion && Number.isSafeInteger(seq))
    throw new NewerEventError(
      `event ${seq} has schema version ${v}, but this program reads only ${eventVersions.join(', ')}`,
      envelope,
      hash,
    );
  const isComplete =
    isReadable &&
    faultInEnvelope(envelope) === undefined &&
    !Number.isNaN(at) &&
    isObject(data) &&
    isObject(before) &&
    Object.values(before).every(Number.isSafeInteger);
  if (!isComplete) throw damaged(`a line of the log is not an event: ${text.slice(0, 200)}`);
  if (!isEventType(type))
    throw new NewerEventError(`event ${seq} has type ${type}, which this program does not support`, envelope, hash);
  return { envelope, at };
}

const faultInEnvelope = faultFinder<Omit<Envelope, 'v' | 'data' | 'before' | 'part'> & { part: readonly number[] }>({
  seq: 'number',
  id: 'text',
  cmd: 'text',
  part: ['number'],
  type: 'text',
  subnet: 'text',
  at: 'text',
  clock: { optional: 'text' },
  actor: 'text',
  prev: 'text',
});

const timeOf = (text: string): number => parseCanonicalInstant(text) ?? Date.parse(text);

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** The head after an event that follows `head`. @throws IpledgerError LEDGER_DAMAGED */
export function advanceHead(head: Head, stored: StoredEvent): Head {
  const { envelope } = stored;
  if (envelope.seq !== head.seq + 1)
    throw damaged(`the log has a gap: event ${envelope.seq} follows event ${head.seq}`);
  if (envelope.prev !== head.hash)
    throw damaged(
      `the hash chain is broken at event ${envelope.seq}: its previous hash is ${envelope.prev}, but that of the ledger is ${head.hash}`,
    );
  return headAfter(head, stored);
}

const damaged = (message: string, cause?: unknown): IpledgerError =>
  new IpledgerError('LEDGER_DAMAGED', message, { cause });

const sha256 = (text: string): string => hashOf('sha256', text, 'hex');

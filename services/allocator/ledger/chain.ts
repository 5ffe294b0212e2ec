/**
 * The envelope of an event, its bytes, and the hash that chains them: `prev` of each event is the SHA-256 of the exact
 * stored bytes of the one before, and the head holds that of the last. An edit, a gap or a swap shows.
 */
import { hash as hashOf } from 'node:crypto';
import { IpledgerError } from '../../../lib/errors.ts';
import { type Event, type Seq, type Sequenced } from '../domain/event.ts';
import { downcast, type EventVersion, eventVersions, type StoredData, upcast } from './upcast.ts';

const newestVersion = eventVersions.at(-1) as EventVersion;

/** How far the ledger has come. Immutable. */
export interface Head {
  /** ULID of the ledger; '' before its first event. */
  readonly ledger: string;
  /** Counts how often the ledger was rewound, from 1. */
  readonly epoch: number;
  readonly seq: Seq;
  /** SHA-256 of the last event's bytes, hexadecimal; '' before the first. */
  readonly hash: string;
  /** The last event's time, milliseconds since 1970. */
  readonly at: number;
}

/** More than a head's text ever takes. */
export const headBytes = 512;

/** Before the first event. */
export const emptyHead: Head = { ledger: '', epoch: 1, seq: 0, hash: '', at: 0 };

/** An event as stored, with the key order of the stored text. */
export interface Envelope {
  readonly v: EventVersion;
  readonly seq: Seq;
  /** ULID of this event. */
  readonly id: string;
  /** ULID of the command; its events are applied together. */
  readonly cmd: string;
  /** This is number [0] of [1]. */
  readonly part: readonly [number, number];
  readonly type: Event['type'];
  readonly subnet: string;
  /** RFC 3339 with milliseconds. */
  readonly at: string;
  /** What the clock said, where that differs from the ledger's time. */
  readonly clock?: string;
  readonly actor: string;
  /** As its version writes it. */
  readonly data: StoredData;
  /** The event before, for each address that it touches; 0: none. */
  readonly before: Readonly<Record<string, Seq>>;
  readonly prev: string;
}

/** An event with everything that follows from its bytes. */
export interface StoredEvent {
  readonly envelope: Envelope;
  /** The exact stored line. */
  readonly text: string;
  /** SHA-256 of it. */
  readonly hash: string;
  /** For `evolve`. */
  readonly sequenced: Sequenced;
}

/** What an event is wrapped in, beside its place. */
export interface Wrapping {
  readonly id: string;
  readonly command: string;
  readonly part: readonly [number, number];
  readonly at: number;
  /** What the clock said. */
  readonly clock: number;
  readonly actor: string;
  readonly before: Readonly<Record<string, Seq>>;
  /** The newest, unless some replica cannot read that yet. */
  readonly version?: EventVersion;
}

/** The next event of the chain, and the head behind it. */
export function chain(
  head: Head,
  event: Event,
  { id, command, part, at, clock, actor, before, version = newestVersion }: Wrapping,
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
    at: new Date(at).toISOString(),
    ...(clock !== at && { clock: new Date(clock).toISOString() }),
    actor,
    data,
    before,
    prev: head.hash,
  };
  const text = JSON.stringify(envelope);
  const hash = sha256(text);
  const stored = { envelope, text, hash, sequenced: sequencedOf(envelope, at) };
  return { stored, head: behind(head, stored) };
}

/** The head behind an event: the first names the ledger, and one that says that it was restored begins an epoch. */
function behind({ ledger, epoch }: Head, { hash, sequenced }: StoredEvent): Head {
  const { type, data, seq, at } = sequenced;
  return {
    ledger: type === 'LedgerCreated' ? data.ledger : ledger,
    epoch: type === 'LedgerRestored' ? data.epoch : epoch,
    seq,
    hash,
    at,
  };
}

/** All types that this program knows; the compiler sees to it that none is missing. */
const known: Readonly<Record<Event['type'], true>> = {
  LedgerCreated: true,
  SubnetConfigured: true,
  SubnetRetired: true,
  AddressAllocated: true,
  AddressTransferred: true,
  AllocationRefused: true,
  AddressBound: true,
  AddressUnbound: true,
  AddressReleased: true,
  PoolConfigured: true,
  PoolRetired: true,
  AddressReserved: true,
  ReservationCancelled: true,
  AddressQuarantined: true,
  QuarantineLifted: true,
  ClaimsDropped: true,
  SegmentSealed: true,
  LedgerRestored: true,
  KeyRotated: true,
};

/** The names of all types. */
export const eventTypes: readonly string[] = Object.keys(known);

/** An event that a newer program wrote, and this one cannot read. */
export class NewerEvent extends IpledgerError {
  readonly prev: string;
  readonly hash: string;

  constructor(message: string, { prev }: Envelope, text: string) {
    super('LEDGER_DAMAGED', `${message}: upgrade it`);
    this.prev = prev;
    this.hash = sha256(text);
  }
}

/**
 * The event that a stored line says.
 * @throws IpledgerError LEDGER_DAMAGED for a line that is no event, or (NewerEvent) one that this program cannot read: a reader
 *   stops, it never skips.
 */
export function parseEvent(text: string): StoredEvent {
  const envelope = parseEnvelope(text);
  return { envelope, text, hash: sha256(text), sequenced: sequencedOf(envelope, Date.parse(envelope.at)) };
}

/** Whoever writes an event goes on with what whoever reads it will see. */
const sequencedOf = ({ v, type, subnet, data, seq }: Envelope, at: number): Sequenced =>
  ({ type, subnet, data: upcast(v, type, data), seq, at }) as Sequenced;

function parseEnvelope(text: string): Envelope {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw damaged(`a line of the log is no JSON: ${text.slice(0, 200)}`, error);
  }
  const envelope = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Envelope;
  const { v, seq, part, type, at, data, before } = envelope;
  if (Number.isSafeInteger(v) && !eventVersions.includes(v))
    throw new NewerEvent(
      `event ${seq} has schema version ${v}; this program reads ${eventVersions.join(', ')}`,
      envelope,
      text,
    );
  const isWhole =
    eventVersions.includes(v) &&
    Number.isSafeInteger(seq) &&
    Array.isArray(part) &&
    !Number.isNaN(Date.parse(at)) &&
    [data, before].every((field) => typeof field === 'object' && field !== null);
  if (!isWhole) throw damaged(`a line of the log is no event: ${text.slice(0, 200)}`);
  if (!Object.hasOwn(known, type))
    throw new NewerEvent(`event ${seq} is of type ${type}, which this program does not know`, envelope, text);
  return envelope;
}

/** The head behind an event that follows `head`. @throws IpledgerError LEDGER_DAMAGED when it does not. */
export function follow(head: Head, stored: StoredEvent): Head {
  const { envelope } = stored;
  if (envelope.seq !== head.seq + 1) throw damaged(`the log is not dense: event ${envelope.seq} follows ${head.seq}`);
  if (envelope.prev !== head.hash)
    throw damaged(
      `the chain is broken at event ${envelope.seq}: it names ${envelope.prev} before it, the ledger has ${head.hash}`,
    );
  return behind(head, stored);
}

const damaged = (message: string, cause?: unknown): IpledgerError =>
  new IpledgerError('LEDGER_DAMAGED', message, { cause });

const sha256 = (text: string): string => hashOf('sha256', text, 'hex');

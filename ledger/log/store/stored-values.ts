/**
 * The values of the keys in etcd. They are single-line JSON, so that `etcdctl get --prefix …
 * --print-value-only | jq` reads the ledger.
 */
import { IpledgerError } from '../../../lib/errors.ts';
import { canonicalAddress } from '../../domain/addresses/address.ts';
import type { Claim, LastRelease, Quarantine, Reservation } from '../../domain/state/claim.ts';
import type { Segment, Seq } from '../../domain/values/ledger.ts';
import type { PoolSpec, SourceObject, SubnetSpec } from '../../domain/values/configuration.ts';
import type { ClaimName } from '../../domain/state/claim.ts';
import { networkOf } from '../../domain/state/network.ts';
import type { ConfiguredPool } from '../../domain/state/pool.ts';
import type { DroppedClaims } from '../../domain/state/snapshot.ts';
import {
  bindingShape,
  holderShape,
  parseAllocation,
  parseBinding,
  parseTime,
  type StoredBinding,
  type StoredHolder,
} from './claim-holder.ts';
import type { ConfiguredSubnet } from '../../domain/state/state.ts';
import { subnetFromSpec } from '../../domain/state/subnet.ts';
import type { Head } from '../chain/chain.ts';
import { poolShape, sourceShape, subnetShape } from '../chain/event-shapes.ts';
import { formatTime } from '../chain/instant.ts';
import { faultFinder } from '../chain/shape.ts';
import {
  addressKey,
  claimNameOf,
  droppedPrefix,
  freezeKey,
  headKey,
  logStartKey,
  poolPrefix,
  segmentKey,
  subnetPrefix,
} from './keys.ts';

/** The content of an address key. `claim` is undefined if the value or the key is invalid. */
export interface FoundClaim {
  readonly name: ClaimName;
  readonly claim: Claim | undefined;
}

/** Reads an address key and its value. @throws IpledgerError LEDGER_DAMAGED */
export function readClaim(key: string, text: string): FoundClaim {
  const name = claimNameOf(key);
  try {
    return { name, claim: parseClaim(name, text) };
  } catch {
    return { name, claim: undefined };
  }
}

interface StoredClaim {
  readonly last: Seq;
  readonly at: string;
  /** Absent in keys that an early version wrote. */
  readonly networks?: readonly string[];
  readonly alloc?: Seq;
  readonly holder?: StoredHolder;
  readonly bindings: readonly StoredBinding[];
  readonly released?: Omit<LastRelease, 'at'> & { readonly at: string };
  readonly reservation?: Omit<Reservation, 'at'> & { readonly at: string };
  readonly quarantine?: Omit<Quarantine, 'at'> & { readonly at: string };
}

export function claimText(claim: Claim): string {
  const { last, lastAt, networks, allocation, bindings, released, reservation, quarantine } = claim;
  const stored: Partial<Record<keyof StoredClaim, unknown>> = { last, at: formatTime(lastAt), networks };
  if (allocation) {
    const { seq, subnet: _, at, ...holder } = allocation;
    stored.alloc = seq;
    stored.holder = { ...holder, at: formatTime(at) };
  }
  stored.bindings = bindings.map((binding) => ({ ...binding, at: formatTime(binding.at) }));
  if (released) stored.released = { ...released, at: formatTime(released.at) };
  if (reservation) stored.reservation = { ...reservation, at: formatTime(reservation.at) };
  if (quarantine) stored.quarantine = { ...quarantine, at: formatTime(quarantine.at) };
  return JSON.stringify(stored);
}

/**
 * The value that a key with the value `text` should have for a claim. Early versions did not store
 * networks, Pod and MAC of the last release, and MACs of bindings. Some versions stored superseded
 * uids, which are ignored. So each of these fields may be missing or partial; anything else must be
 * equal.
 */
export function expectedClaimText(text: string, claim: Claim): string {
  const found = parseStored(text);
  const stored = JSON.parse(claimText(claim)) as StoredClaim;
  const { holder, released, bindings } = stored;
  const own = claim.allocation && networkOf(claim.allocation.attachment.provider, claim.allocation.subnet);
  return JSON.stringify({
    ...stored,
    networks: expectedList(found?.networks, claim.networks, own),
    ...(holder && { holder: { ...holder, superseded: expectedList(found?.holder?.superseded, holder.superseded) } }),
    bindings: bindings.map((binding, index) => withFound(binding, found?.bindings?.[index], 'mac')),
    ...(released && { released: withFound(withFound(released, found?.released, 'pod'), found?.released, 'mac') }),
  });
}

/** Removes a field of a claim that the found value does not have. */
const withFound = <Part extends object>(part: Part, found: Part | undefined, field: keyof Part): Part =>
  found?.[field] === undefined ? { ...part, [field]: undefined } : part;

function parseStored(text: string): Partial<StoredClaim> | null {
  try {
    return JSON.parse(text) as Partial<StoredClaim> | null;
  } catch {
    return null;
  }
}

/** The list that a key should have: the found list if it lies between `required` and `all`. */
function expectedList(
  found: unknown,
  all: readonly string[] | undefined,
  required?: string,
): readonly string[] | undefined {
  if (found === undefined) return undefined;
  const listed = new Set<unknown>(Array.isArray(found) ? found : []);
  const part = (all ?? []).filter((each) => listed.has(each));
  const isPart = part.length > 0 && part.length === listed.size && (required === undefined || part.includes(required));
  return isPart ? part : all;
}

/** Parses the value of a claim's key. @throws IpledgerError LEDGER_DAMAGED */
export function parseClaim({ subnet, address }: ClaimName, text: string): Claim {
  return parseOrReject(addressKey({ subnet, address }), text, 'claim', () => {
    const stored = JSON.parse(text) as StoredClaim;
    if (canonicalAddress(address) !== address) throw new TypeError('its key has no address');
    refuseFault(faultInClaim(stored));
    const { last, at, networks = [], alloc, holder, bindings, released, reservation, quarantine } = stored;
    if (holder && alloc === undefined) throw new TypeError('it has a holder but no "alloc"');
    const allocation = holder && parseAllocation(holder, alloc as Seq, subnet);
    return {
      last,
      lastAt: parseTime(at),
      networks,
      ...(allocation && { allocation }),
      bindings: bindings.map(parseBinding),
      ...(released && { released: { ...released, at: parseTime(released.at) } }),
      ...(reservation && { reservation: { ...reservation, at: parseTime(reservation.at) } }),
      ...(quarantine && { quarantine: { ...quarantine, at: parseTime(quarantine.at) } }),
    };
  });
}

const eventOfPart = { seq: 'number', at: 'text' } as const;
const faultInClaim = faultFinder<StoredClaim>({
  last: 'number',
  at: 'text',
  networks: { optional: ['text'] },
  alloc: { optional: 'number' },
  holder: { optional: holderShape },
  bindings: [bindingShape],
  released: { optional: { ...eventOfPart, uid: 'text', pod: { optional: 'text' }, mac: { optional: 'text' } } },
  reservation: { optional: { ...eventOfPart, reservedFor: 'text', reason: 'text', mac: 'text' } },
  quarantine: { optional: { ...eventOfPart, seenMac: 'text', seenAt: 'text', reason: 'text' } },
});

/** @throws TypeError */
function refuseFault(fault: string | undefined): void {
  if (fault !== undefined) throw new TypeError(`the value${fault}`);
}

function parseOrReject<Value>(key: string, text: string, what: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    const found = `the value of ${key} is not a valid ${what}: ${text.slice(0, 200)}`;
    const message = `${found}. Another program wrote it. Run: ipledger verify --etcd URLS`;
    throw new IpledgerError('LEDGER_DAMAGED', message, { cause: error });
  }
}

/** The value of a `dropped` key: the last events that dropped claims of the subnet. */
export const droppedText = (seqs: readonly Seq[]): string => JSON.stringify({ seqs });

const faultInDropped = faultFinder<{ readonly seqs: readonly Seq[] }>({ seqs: ['number'] });

/** Parses a `dropped` key and its value. @throws IpledgerError LEDGER_DAMAGED */
export function parseDropped(key: string, text: string): DroppedClaims {
  return parseOrReject(key, text, 'list of events', () => {
    const dropped = JSON.parse(text) as { readonly seqs: readonly Seq[] };
    refuseFault(faultInDropped(dropped));
    return { subnet: key.slice(droppedPrefix.length), seqs: dropped.seqs };
  });
}

export interface StoredSubnet {
  readonly spec: SubnetSpec;
  readonly source?: SourceObject;
}

export const subnetText = ({ spec, source }: StoredSubnet): string =>
  JSON.stringify({ spec, ...(source && { source }) });

/** The value of the key of a subnet in the state. */
export const configuredSubnetText = ({ subnet, source }: Pick<ConfiguredSubnet, 'subnet' | 'source'>): string =>
  subnetText({ spec: subnet.spec, ...(source && { source }) });

const faultInSubnet = faultFinder<StoredSubnet>({ spec: subnetShape, source: { optional: sourceShape } });

/** Parses a subnet key and its value. @throws IpledgerError LEDGER_DAMAGED */
export function parseSubnet(key: string, text: string): StoredSubnet & { readonly name: string } {
  return parseOrReject(key, text, 'subnet', () => {
    const stored = JSON.parse(text) as StoredSubnet;
    refuseFault(faultInSubnet(stored));
    const { spec, source } = stored;
    const name = key.slice(subnetPrefix.length);
    subnetFromSpec(name, spec); // throws for a CIDR or a gateway that is none, as a start would
    return { name, spec, ...(source && { source }) };
  });
}

export interface StoredPool {
  readonly spec: PoolSpec;
  readonly source?: SourceObject;
}

export const poolText = ({ spec, source }: StoredPool): string => JSON.stringify({ spec, ...(source && { source }) });

const faultInPool = faultFinder<StoredPool>({ spec: poolShape, source: { optional: sourceShape } });

/** Parses a pool key and its value. @throws IpledgerError LEDGER_DAMAGED */
export function parsePool(key: string, text: string): ConfiguredPool {
  return parseOrReject(key, text, 'pool', () => {
    const stored = JSON.parse(text) as StoredPool;
    refuseFault(faultInPool(stored));
    const { spec, source } = stored;
    return { name: key.slice(poolPrefix.length), spec, ...(source && { source }) };
  });
}

/** The value of the head's key. A head must have exactly one text, because appends compare it. */
export const headText = ({ ledger, epoch, seq, hash, at, claims }: Head): string =>
  JSON.stringify({ ledger, epoch, seq, hash, at: formatTime(at), claims });

/** The common beginning of the texts of all heads of an epoch. */
export function epochPrefix(head: Head): string {
  const text = headText(head);
  return text.slice(0, text.indexOf('"seq"'));
}

/**
 * Parses the head of a ledger whose claims are complete.
 * @throws IpledgerError LEDGER_DAMAGED, also if the text is not canonical, because appends compare
 * it byte by byte; UnfinishedReplay
 */
export function parseHead(text: string): Head {
  const head = parseAnyHead(text);
  if (head.claims !== undefined) throw new UnfinishedReplay(head);
  return head;
}

/** Parses a head, even of an unfinished replay. @throws IpledgerError LEDGER_DAMAGED */
export function parseAnyHead(text: string): Head {
  return parseOrReject(headKey, text, 'head', () => {
    const { at, ...stored } = JSON.parse(text) as Omit<Head, 'at'> & { readonly at: string };
    const { ledger, epoch, seq, hash, claims } = stored;
    const head = { ledger, epoch, seq, hash, at: parseTime(at), ...(claims !== undefined && { claims }) };
    const types = [typeof ledger, typeof epoch, typeof seq, typeof hash].join(' ');
    if (types !== 'string number number string') throw new TypeError('a field is missing or has another type');
    if (claims !== undefined && !Number.isSafeInteger(claims)) throw new TypeError('"claims" is not a number');
    if (headText(head) !== text) throw new TypeError('the text differs from the canonical text');
    return head;
  });
}

/** Thrown for the head of an unfinished replay. UNAVAILABLE, because the replay may still run. */
export class UnfinishedReplay extends IpledgerError {
  constructor({ seq }: Head) {
    super(
      'UNAVAILABLE',
      `a replay is in progress, or was interrupted: the events up to ${seq} are written, and not all claims. If it was interrupted, run ipledger replay --resume with the same export`,
    );
  }
}

export const segmentText = (segment: Segment): string => {
  const { seq, from, to, since, until, hash, manifest, archive, files, dropped } = segment;
  return JSON.stringify({ seq, from, to, since, until, hash, manifest, archive, files, dropped });
};

/** Parses a segment key and its value. @throws IpledgerError LEDGER_DAMAGED */
export function parseSegment(key: string, text: string): Segment {
  return parseOrReject(key, text, 'segment', () => {
    const segment = JSON.parse(text) as Segment;
    if (segmentText(segment) !== text) throw new TypeError('the text differs from the canonical text');
    if (![segment.seq, segment.from, segment.to].every(Number.isSafeInteger))
      throw new TypeError('"seq", "from" or "to" is not an event number');
    if (key !== segmentKey(segment.from)) throw new TypeError('"from" differs from the key');
    return segment;
  });
}

export const logStartText = (seq: Seq): string => JSON.stringify({ seq });

/** Parses the log start; without a key it is 1. @throws IpledgerError LEDGER_DAMAGED */
export function parseLogStart(text: string | undefined): Seq {
  if (text === undefined) return 1;
  return parseOrReject(logStartKey, text, 'log start', () => {
    const { seq } = JSON.parse(text) as { readonly seq: Seq };
    if (!Number.isSafeInteger(seq) || seq < 2) throw new TypeError('"seq" is not an event after a sealed one');
    return seq;
  });
}

export interface FreezeReason {
  /** The latest position that the ledger lacks. Its own head, if no client has reported one. */
  readonly epoch: number;
  readonly seq: Seq;
  readonly hash: string;
  /** The client that had read this position, and the time when it was found missing. */
  readonly by: string;
  readonly at: string;
  /** The head at that time. Later events are new. Absent in records of early versions. */
  readonly found?:
    { readonly epoch: number; readonly seq: Seq; readonly hash: string; readonly at: string } | undefined;
}

export const freezeText = ({ epoch, seq, hash, by, at, found }: FreezeReason): string =>
  JSON.stringify({ epoch, seq, hash, by, at, found });

/**
 * The text of a freeze after another report: the later position, with time and head of the first
 * report. The position of a later epoch counts as later: the next epoch must be none that a client
 * has seen. Returns undefined if nothing changes.
 */
export function nextFreezeText(current: string | undefined, reported: FreezeReason): string | undefined {
  if (current === undefined) return freezeText(reported);
  const first = parseFreeze(current);
  const isLater = reported.epoch === first.epoch ? reported.seq > first.seq : reported.epoch > first.epoch;
  return isLater ? freezeText({ ...reported, at: first.at, found: first.found }) : undefined;
}

/** Parses a freeze. @throws LEDGER_DAMAGED without a position, which the next epoch needs */
export function parseFreeze(text: string): FreezeReason {
  return parseOrReject(freezeKey, text, 'freeze reason', () => {
    const reason = JSON.parse(text) as FreezeReason;
    if (![reason.epoch, reason.seq].every(Number.isSafeInteger)) throw new TypeError('"epoch" or "seq" is missing');
    return reason;
  });
}

/**
 * Where things stand in etcd, and how. All keys are ASCII and all values single-line JSON, so that plain
 * `etcdctl get --prefix … --print-value-only | jq` is the audit.
 *
 *   /ipledger/v1/head                 ledger id, epoch, seq, hash, at
 *   /ipledger/v1/log/<seq>            one event; 16 digits, so that text order is number order
 *   /ipledger/v1/addr/<subnet>/<ip>   all that is known of this address now
 *   /ipledger/v1/dropped/<subnet>     the last events that dropped claims of this subnet
 *   /ipledger/v1/subnet/<name>        the spec in force, as normalised
 *   /ipledger/v1/pool/<name>          the same of a pool
 *   /ipledger/v1/segment/<from>       a stretch of the log that stands in the archive
 *   /ipledger/v1/floor                the first event that is not sealed; no key while nothing is
 *   /ipledger/v1/frozen               an event that somebody remembers and the log lacks: while it is there nothing is allocated
 *   /ipledger/v1/writer               the active writer, on a lease
 *   /ipledger/v1/member/<replica>     a live replica and what it can read, on a lease
 */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Allocation, Binding, Claim, Quarantine, Reservation } from '../domain/claim.ts';
import type { PoolSpec, Segment, Seq, SourceObject, SubnetSpec } from '../domain/event.ts';
import type { ClaimName } from '../domain/journal.ts';
import { networkOf } from '../domain/network.ts';
import type { ConfiguredPool } from '../domain/pool.ts';
import type { DroppedClaims } from '../domain/restore.ts';
import type { ConfiguredSubnet } from '../domain/state.ts';
import type { Head } from './chain.ts';

/** All that is ours stands under it. */
export const prefix = '/ipledger/v1/';

export const headKey = `${prefix}head`;
export const writerKey = `${prefix}writer`;
export const memberPrefix = `${prefix}member/`;
export const logPrefix = `${prefix}log/`;
export const addressPrefix = `${prefix}addr/`;
export const droppedPrefix = `${prefix}dropped/`;
export const subnetPrefix = `${prefix}subnet/`;
export const poolPrefix = `${prefix}pool/`;
export const segmentPrefix = `${prefix}segment/`;
export const floorKey = `${prefix}floor`;
export const frozenKey = `${prefix}frozen`;

/** 16 digits, so that the order of keys is that of numbers. */
const digits = (seq: Seq): string => String(seq).padStart(16, '0');

export const logKey = (seq: Seq): string => logPrefix + digits(seq);

/** Which event stands under a key of the log; undefined for a key that is none of them. */
export function seqOfKey(key: string): Seq | undefined {
  const number = key.startsWith(logPrefix) ? key.slice(logPrefix.length) : '';
  return /^\d{16}$/.test(number) ? Number(number) : undefined;
}

export const segmentKey = (from: Seq): string => segmentPrefix + digits(from);
export const addressKey = ({ subnet, address }: ClaimName): string => `${addressPrefix}${subnet}/${address}`;
export const memberKey = (replica: string): string => memberPrefix + replica;
export const droppedKey = (subnet: string): string => droppedPrefix + subnet;
export const subnetKey = (name: string): string => subnetPrefix + name;
export const poolKey = (name: string): string => poolPrefix + name;

/** The key after all keys that begin with `text`. */
export const endOf = (text: string): string =>
  text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) + 1);

/** Which address a claim key is about. @throws IpledgerError LEDGER_DAMAGED for a key that is none. */
export function claimNameOf(key: string): ClaimName {
  const [subnet, address, ...rest] = key.slice(addressPrefix.length).split('/');
  if (!key.startsWith(addressPrefix) || !subnet || !address || rest.length > 0)
    throw new IpledgerError('LEDGER_DAMAGED', `${key} is no address key: was it put there by hand?`);
  return { subnet, address };
}

/** A claim key as it is found: what it says, or that it says nothing that we wrote. */
export interface FoundClaim {
  readonly name: ClaimName;
  readonly claim: Claim | undefined;
}

/** What an address key and its value say. @throws IpledgerError LEDGER_DAMAGED for a key that is none. */
export function readClaim(key: string, text: string): FoundClaim {
  const name = claimNameOf(key);
  try {
    return { name, claim: parseClaim(name, text) };
  } catch {
    return { name, claim: undefined };
  }
}

interface StoredBinding extends Omit<Binding, 'at'> {
  readonly at: string;
}

interface StoredClaim {
  readonly last: Seq;
  readonly at: string;
  /** Absent in keys that were last written before claims named them. */
  readonly networks?: readonly string[];
  readonly alloc?: Seq;
  readonly holder?: Omit<Allocation, 'seq' | 'subnet' | 'at'> & { readonly at: string };
  readonly bindings: readonly StoredBinding[];
  readonly released?: { readonly seq: Seq; readonly at: string; readonly uid: string; readonly pod?: string };
  readonly reservation?: Omit<Reservation, 'at'> & { readonly at: string };
  readonly quarantine?: Omit<Quarantine, 'at'> & { readonly at: string };
}

const instant = (at: number): string => new Date(at).toISOString();

/** A claim as its key holds it. */
export function claimText(claim: Claim): string {
  const { last, lastAt, networks, allocation, bindings, released, reservation, quarantine } = claim;
  const stored: Partial<Record<keyof StoredClaim, unknown>> = { last, at: instant(lastAt), networks };
  if (allocation) {
    const { seq, subnet: _, at, ...holder } = allocation;
    stored.alloc = seq;
    stored.holder = { ...holder, at: instant(at) };
  }
  stored.bindings = bindings.map((binding) => ({ ...binding, at: instant(binding.at) }));
  if (released) stored.released = { ...released, at: instant(released.at) };
  if (reservation) stored.reservation = { ...reservation, at: instant(reservation.at) };
  if (quarantine) stored.quarantine = { ...quarantine, at: instant(quarantine.at) };
  return JSON.stringify(stored);
}

/**
 * What a key with this text should hold of a claim. Versions that did not note them left out, each by itself, the networks, the Pod of
 * the last release and the superseded uids; a later version writes such a key again with what it could make out. Less of these is
 * therefore as good as all; more, or something else, is not.
 */
export function claimTextAs(text: string, claim: Claim): string {
  const found = storedIn(text);
  const stored = JSON.parse(claimText(claim)) as StoredClaim;
  const { holder, released } = stored;
  const own = claim.allocation && networkOf(claim.allocation.attachment.provider, claim.allocation.subnet);
  return JSON.stringify({
    ...stored,
    networks: asNoted(found?.networks, claim.networks, own),
    ...(holder && { holder: { ...holder, superseded: asNoted(found?.holder?.superseded, holder.superseded) } }),
    ...(released && { released: { ...released, pod: found?.released?.pod === undefined ? undefined : released.pod } }),
  });
}

function storedIn(text: string): Partial<StoredClaim> | null {
  try {
    return JSON.parse(text) as Partial<StoredClaim> | null;
  } catch {
    return null;
  }
}

/** What a key should list that lists this, of all that there is to list: the same, if it is a part of that, with what must be in it. */
function asNoted(found: unknown, whole: readonly string[] | undefined, must?: string): readonly string[] | undefined {
  if (found === undefined) return undefined;
  const listed = new Set<unknown>(Array.isArray(found) ? found : []);
  const part = (whole ?? []).filter((each) => listed.has(each));
  const isPart = part.length > 0 && part.length === listed.size && (must === undefined || part.includes(must));
  return isPart ? part : whole;
}

/** The claim that a key's value says. @throws IpledgerError LEDGER_DAMAGED for a value that is none. */
export function parseClaim({ subnet, address }: ClaimName, text: string): Claim {
  return parsed(addressKey({ subnet, address }), text, 'claim', () => {
    const stored = JSON.parse(text) as StoredClaim;
    const { last, at, networks = [], alloc, holder, bindings, released, reservation, quarantine } = stored;
    if (!Number.isSafeInteger(last)) throw new TypeError('it has no "last"');
    if (holder && !Number.isSafeInteger(alloc)) throw new TypeError('it has a holder and no "alloc"');
    return {
      last,
      lastAt: time(at),
      networks,
      ...(holder && { allocation: { ...holder, seq: alloc as Seq, subnet, at: time(holder.at) } }),
      bindings: bindings.map((binding) => ({ ...binding, at: time(binding.at) })),
      ...(released && { released: { ...released, at: time(released.at) } }),
      ...(reservation && { reservation: { ...reservation, at: time(reservation.at) } }),
      ...(quarantine && { quarantine: { ...quarantine, at: time(quarantine.at) } }),
    };
  });
}

function time(text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new TypeError(`"${text}" is no instant`);
  return at;
}

function parsed<Value>(key: string, text: string, what: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    const found = `the value of ${key} is no ${what}: ${text.slice(0, 200)}`;
    const message = `${found}; something else than ipledger wrote it: see ipledger verify --etcd`;
    throw new IpledgerError('LEDGER_DAMAGED', message, { cause: error });
  }
}

/** The last events that dropped claims of a subnet, as its key holds them. */
export const droppedText = (seqs: readonly Seq[]): string => JSON.stringify({ seqs });

/** The same from a key and its value. @throws IpledgerError LEDGER_DAMAGED for a value that is none. */
export function parseDropped(key: string, text: string): DroppedClaims {
  return parsed(key, text, 'list of events', () => {
    const { seqs } = JSON.parse(text) as { readonly seqs: readonly Seq[] };
    if (!seqs.every(Number.isSafeInteger)) throw new TypeError('it names no events');
    return { subnet: key.slice(droppedPrefix.length), seqs };
  });
}

/** What a subnet's key holds. */
export interface StoredSubnet {
  readonly spec: SubnetSpec;
  readonly source?: SourceObject;
}

/** A subnet as its key holds it. */
export const subnetText = ({ spec, source }: StoredSubnet): string =>
  JSON.stringify({ spec, ...(source && { source }) });

/** The same of one in force. */
export const configuredText = ({ subnet, source }: Pick<ConfiguredSubnet, 'subnet' | 'source'>): string =>
  subnetText({ spec: subnet.spec, ...(source && { source }) });

/** The subnet that a key and its value say. @throws IpledgerError LEDGER_DAMAGED for a value that is none. */
export function parseSubnet(key: string, text: string): StoredSubnet & { readonly name: string } {
  return parsed(key, text, 'subnet', () => {
    const { spec, source } = JSON.parse(text) as StoredSubnet;
    if (typeof spec.cidrBlock !== 'string') throw new TypeError('it has no CIDR');
    return { name: key.slice(subnetPrefix.length), spec, ...(source && { source }) };
  });
}

/** What a pool's key holds. */
export interface StoredPool {
  readonly spec: PoolSpec;
  readonly source?: SourceObject;
}

/** A pool as its key holds it. */
export const poolText = ({ spec, source }: StoredPool): string => JSON.stringify({ spec, ...(source && { source }) });

/** The pool that a key and its value say. @throws IpledgerError LEDGER_DAMAGED for a value that is none. */
export function parsePool(key: string, text: string): ConfiguredPool {
  return parsed(key, text, 'pool', () => {
    const { spec, source } = JSON.parse(text) as StoredPool;
    if (typeof spec.subnet !== 'string' || !Array.isArray(spec.ips)) throw new TypeError('it has no subnet, or no ips');
    return { name: key.slice(poolPrefix.length), spec, ...(source && { source }) };
  });
}

/** The head as its key holds it. The text is compared byte by byte, so there is one way to write it. */
export const headText = ({ ledger, epoch, seq, hash, at }: Head): string =>
  JSON.stringify({ ledger, epoch, seq, hash, at: instant(at) });

/** What the texts of all heads of a ledger's epoch begin with. */
export function epochText(head: Head): string {
  const text = headText(head);
  return text.slice(0, text.indexOf('"seq"'));
}

/** @throws IpledgerError LEDGER_DAMAGED for a value that is no head, or not written as we write it: no append would find it as known. */
export function parseHead(text: string): Head {
  return parsed(headKey, text, 'head', () => {
    const { ledger, epoch, seq, hash, at } = JSON.parse(text) as Omit<Head, 'at'> & { readonly at: string };
    const head = { ledger, epoch, seq, hash, at: time(at) };
    const types = [typeof ledger, typeof epoch, typeof seq, typeof hash].join(' ');
    if (types !== 'string number number string') throw new TypeError('a field is missing, or of another type');
    if (headText(head) !== text) throw new TypeError('it is not written as we write it');
    return head;
  });
}

/** A segment as its key holds it. */
export const segmentText = ({ seq, from, to, since, until, hash, manifest, archive }: Segment): string =>
  JSON.stringify({ seq, from, to, since, until, hash, manifest, archive });

/** The segment that a key and its value say. @throws IpledgerError LEDGER_DAMAGED for a value that is none. */
export function parseSegment(key: string, text: string): Segment {
  return parsed(key, text, 'segment', () => {
    const segment = JSON.parse(text) as Segment;
    if (segmentText(segment) !== text) throw new TypeError('it is not written as we write it');
    if (![segment.seq, segment.from, segment.to].every(Number.isSafeInteger)) throw new TypeError('it has no place');
    if (key !== segmentKey(segment.from)) throw new TypeError('it begins elsewhere');
    return segment;
  });
}

/** The floor as its key holds it. */
export const floorText = (seq: Seq): string => JSON.stringify({ seq });

/** The floor that the key's value says; 1 where there is no key. @throws IpledgerError LEDGER_DAMAGED for a value that is none. */
export function parseFloor(text: string | undefined): Seq {
  if (text === undefined) return 1;
  return parsed(floorKey, text, 'floor', () => {
    const { seq } = JSON.parse(text) as { readonly seq: Seq };
    if (!Number.isSafeInteger(seq) || seq < 2) throw new TypeError('it is no event behind a sealed one');
    return seq;
  });
}

/** Why the ledger is frozen. */
export interface Frozen {
  /** A position that is not in it. */
  readonly epoch: number;
  readonly seq: Seq;
  readonly hash: string;
  /** Who remembers it, and when that was found. */
  readonly by: string;
  readonly at: string;
  /** Where the ledger stood then: what is behind it was written since. Absent: nobody kept that. */
  readonly found?: { readonly epoch: number; readonly seq: Seq; readonly hash: string; readonly at: string };
}

export const frozenText = ({ epoch, seq, hash, by, at, found }: Frozen): string =>
  JSON.stringify({ epoch, seq, hash, by, at, found });

/** @throws IpledgerError LEDGER_DAMAGED for a value that names no position: there would be no epoch to go on in. */
export function parseFrozen(text: string): Frozen {
  return parsed(frozenKey, text, 'reason', () => {
    const why = JSON.parse(text) as Frozen;
    if (![why.epoch, why.seq].every(Number.isSafeInteger)) throw new TypeError('it has no place');
    return why;
  });
}

/**
 * Checks the log independently of the ledger, without shared code: no event is missing, each event
 * is possible after the earlier ones, and no address has two holders. Its input is the lines in
 * etcd.
 */
import { createHash } from 'node:crypto';
import type { Etcd } from '../harness/etcd.ts';

const logPrefix = '/ipledger/v1/log/';
/** The fields of a stored event that the check reads. */
interface StoredEvent {
  readonly seq: number;
  readonly type: string;
  readonly subnet: string;
  readonly at: string;
  readonly prev: string;
  readonly before: Readonly<Record<string, number>>;
  readonly data: {
    readonly alloc?: number;
    readonly uid?: string;
    readonly fromUid?: string;
    readonly cause?: string;
    readonly containerId?: string;
    readonly interface?: string;
    readonly attachment?: { readonly namespace: string; readonly pod: string; readonly provider: string };
    readonly addresses?: readonly (string | { readonly address: string })[];
    readonly spec?: { readonly cooldownMs: number };
  };
}

/** A period in which a Pod holds addresses. */
export interface AllocationPeriod {
  readonly seq: number;
  readonly uid: string;
  readonly pod: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  /** The cause of its end; undefined while it continues. */
  end: string | undefined;
}

export interface LogReport {
  readonly events: number;
  /** Impossible events; empty for a correct log. */
  readonly violations: readonly string[];
  /** The periods, sorted by their start. */
  readonly allocationPeriods: readonly AllocationPeriod[];
  /** "container/interface" of each binding that has not ended. */
  readonly openBindings: readonly string[];
}

/** Reads and checks all events in etcd. */
export async function checkLog(etcd: Etcd): Promise<LogReport> {
  const printed = await etcd.etcdctl(['get', '--prefix', '--print-value-only', logPrefix]);
  return checkLogLines(printed.split('\n').filter((line) => line !== ''));
}

/** The state of an address. */
interface Address {
  last: number;
  lastAt: number;
  period: AllocationPeriod | undefined;
  readonly bindings: Set<string>;
}

/** Checks lines of the log, from the first event. */
export function checkLogLines(lines: readonly string[]): LogReport {
  const addresses = new Map<string, Address>();
  const periods = new Map<number, AllocationPeriod>();
  const cooldowns = new Map<string, number>();
  const violations: string[] = [];
  let prev = '';
  let at = '';
  lines.forEach((line, index) => {
    const event = JSON.parse(line) as StoredEvent;
    const wrong = (what: string): void => void violations.push(`event ${event.seq} (${event.type}): ${what}`);
    if (event.seq !== index + 1) wrong(`number ${index + 1} is missing`);
    if (event.prev !== prev) wrong('its prev is not the hash of the event before it');
    if (event.at < at) wrong(`its time ${event.at} is before ${at}`);
    prev = createHash('sha256').update(line).digest('hex');
    at = event.at;
    applyEvent(event, { addresses, periods, cooldowns, wrong });
  });
  const bound = new Set([...addresses.values()].flatMap(({ bindings }) => [...bindings]));
  return {
    events: lines.length,
    violations,
    allocationPeriods: [...periods.values()],
    openBindings: [...bound],
  };
}

interface LogState {
  readonly addresses: Map<string, Address>;
  readonly periods: Map<number, AllocationPeriod>;
  /** The cooldowns by subnet. */
  readonly cooldowns: Map<string, number>;
  readonly wrong: (what: string) => void;
}

function applyEvent(event: StoredEvent, { addresses, periods, cooldowns, wrong }: LogState): void {
  const { seq, type, subnet, data } = event;
  const texts = (data.addresses ?? []).map((each) => (typeof each === 'string' ? each : each.address));
  if (type === 'AllocationRefused') return;
  const touched = texts.map((text) => {
    const key = `${subnet}/${text}`;
    const known = addresses.get(key) ?? { last: 0, lastAt: -Infinity, period: undefined, bindings: new Set<string>() };
    addresses.set(key, known);
    if (event.before[text] !== known.last)
      wrong(`of ${key} event ${known.last} came before it, not ${event.before[text]}`);
    return { key, known };
  });
  const attachment = data.attachment;
  const pod = `${attachment?.namespace}/${attachment?.pod}`;
  const begin = (): void => {
    const period = { seq, uid: data.uid ?? '', pod, subnet, addresses: texts, end: undefined };
    periods.set(seq, period);
    for (const { known } of touched) known.period = period;
  };
  const end = (uid: string | undefined, why: string): void => {
    const period = periods.get(data.alloc ?? 0);
    if (!period || period.end !== undefined) wrong(`no Pod holds an address by event ${data.alloc}`);
    else if (period.uid !== uid) wrong(`uid ${uid} does not hold it, uid ${period.uid} does`);
    else if (period.addresses.join() !== texts.join())
      wrong(`the allocation has the addresses ${period.addresses.join()}`);
    if (period) period.end = why;
    for (const { known } of touched) known.period = undefined;
  };
  const container = `${data.containerId}/${data.interface}`;

  if (data.spec) cooldowns.set(subnet, data.spec.cooldownMs);
  if (type === 'AddressAllocated') {
    const cooldownMs = cooldowns.get(subnet);
    if (cooldownMs === undefined) wrong(`there is no subnet ${subnet}`);
    for (const { key, known } of touched)
      findAllocationErrors(event, { ...known, key, cooldownMs: cooldownMs ?? 0 }).forEach(wrong);
    for (const { known } of touched) known.bindings.clear();
    begin();
  } else if (type === 'AddressTransferred') {
    end(data.fromUid, 'transferred');
    begin();
  } else if (type === 'AddressReleased') end(data.uid, data.cause ?? '');
  else if (type === 'AddressBound') {
    for (const { key, known } of touched) {
      if (known.period?.seq !== data.alloc) wrong(`${key} is not held by event ${data.alloc}`);
      known.bindings.add(container);
    }
  } else if (type === 'AddressUnbound')
    for (const { key, known } of touched)
      if (!known.bindings.delete(container)) wrong(`${key} is not bound to ${container}`);
  for (const { known } of touched) {
    known.last = seq;
    known.lastAt = Date.parse(event.at);
  }
}

function findAllocationErrors(
  { at, data }: StoredEvent,
  address: Address & { key: string; cooldownMs: number },
): string[] {
  const { key, period, bindings, last, lastAt, cooldownMs } = address;
  if (period)
    return [`${key} is allocated to uid ${data.uid}, but uid ${period.uid} holds it since event ${period.seq}`];
  if (bindings.size > 0)
    return [`${key} is allocated to uid ${data.uid}, but ${[...bindings].join()} may answer on it`];
  const idleMs = Date.parse(at) - lastAt;
  if (last > 0 && data.cause === 'dynamic' && idleMs < cooldownMs)
    return [`${key} is allocated again ${idleMs} ms after its release, before the end of the cooldown`];
  return [];
}

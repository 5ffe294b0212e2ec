/**
 * The log, read as a story by somebody who shares no code with those who wrote it: is it whole, does every event follow from
 * those before it, and was nothing ever held twice? Takes the lines as they stand in etcd.
 */
import { createHash } from 'node:crypto';
import type { Etcd } from '../harness/etcd.ts';

const logPrefix = '/ipledger/v1/log/';
/** Of an event as it is stored: what is read here. */
interface Told {
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

/** One time that somebody held addresses. */
export interface Tenure {
  readonly seq: number;
  readonly uid: string;
  readonly pod: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  /** Why it ended; undefined while it goes on. */
  end: string | undefined;
}

export interface Story {
  readonly events: number;
  /** All that cannot be true; empty when nothing is wrong. */
  readonly wrongs: readonly string[];
  /** In the order in which they began. */
  readonly tenures: readonly Tenure[];
  /** "container/interface" of those that have an address still. */
  readonly bound: readonly string[];
}

/** Reads the whole log. */
export async function readStory(etcd: Etcd): Promise<Story> {
  const printed = await etcd.etcdctl(['get', '--prefix', '--print-value-only', logPrefix]);
  return storyOf(printed.split('\n').filter((line) => line !== ''));
}

/** What is known of an address. */
interface Address {
  last: number;
  lastAt: number;
  tenure: Tenure | undefined;
  readonly bindings: Set<string>;
}

/** The story that lines of the log tell, from the first on. */
export function storyOf(lines: readonly string[]): Story {
  const addresses = new Map<string, Address>();
  const tenures = new Map<number, Tenure>();
  const cooldowns = new Map<string, number>();
  const wrongs: string[] = [];
  let prev = '';
  let at = '';
  lines.forEach((line, index) => {
    const event = JSON.parse(line) as Told;
    const wrong = (what: string): void => void wrongs.push(`event ${event.seq} (${event.type}): ${what}`);
    if (event.seq !== index + 1) wrong(`number ${index + 1} is missing`);
    if (event.prev !== prev) wrong('it does not name the hash of the event before it');
    if (event.at < at) wrong(`it is of ${event.at}, before ${at}`);
    prev = createHash('sha256').update(line).digest('hex');
    at = event.at;
    follow(event, { addresses, tenures, cooldowns, wrong });
  });
  const bound = new Set([...addresses.values()].flatMap(({ bindings }) => [...bindings]));
  return { events: lines.length, wrongs, tenures: [...tenures.values()], bound: [...bound] };
}

interface SoFar {
  readonly addresses: Map<string, Address>;
  readonly tenures: Map<number, Tenure>;
  /** How long an address rests, by subnet. */
  readonly cooldowns: Map<string, number>;
  readonly wrong: (what: string) => void;
}

function follow(event: Told, { addresses, tenures, cooldowns, wrong }: SoFar): void {
  const { seq, type, subnet, data } = event;
  const texts = (data.addresses ?? []).map((each) => (typeof each === 'string' ? each : each.address));
  if (type === 'AllocationRefused') return;
  const touched = texts.map((text) => {
    const key = `${subnet}/${text}`;
    const known = addresses.get(key) ?? { last: 0, lastAt: -Infinity, tenure: undefined, bindings: new Set<string>() };
    addresses.set(key, known);
    if (event.before[text] !== known.last)
      wrong(`of ${key} event ${known.last} came before it, not ${event.before[text]}`);
    return { key, known };
  });
  const attachment = data.attachment;
  const pod = `${attachment?.namespace}/${attachment?.pod}`;
  const begin = (): void => {
    const tenure = { seq, uid: data.uid ?? '', pod, subnet, addresses: texts, end: undefined };
    tenures.set(seq, tenure);
    for (const { known } of touched) known.tenure = tenure;
  };
  const end = (uid: string | undefined, why: string): void => {
    const tenure = tenures.get(data.alloc ?? 0);
    if (!tenure || tenure.end !== undefined) wrong(`nobody holds anything by event ${data.alloc}`);
    else if (tenure.uid !== uid) wrong(`uid ${uid} does not hold it, uid ${tenure.uid} does`);
    else if (tenure.addresses.join() !== texts.join()) wrong(`it was ${tenure.addresses.join()} that was held`);
    if (tenure) tenure.end = why;
    for (const { known } of touched) known.tenure = undefined;
  };
  const container = `${data.containerId}/${data.interface}`;

  if (data.spec) cooldowns.set(subnet, data.spec.cooldownMs);
  if (type === 'AddressAllocated') {
    const cooldownMs = cooldowns.get(subnet);
    if (cooldownMs === undefined) wrong(`there is no subnet ${subnet}`);
    for (const { key, known } of touched)
      wrongToGive(event, { ...known, key, cooldownMs: cooldownMs ?? 0 }).forEach(wrong);
    for (const { known } of touched) known.bindings.clear();
    begin();
  } else if (type === 'AddressTransferred') {
    end(data.fromUid, 'transferred');
    begin();
  } else if (type === 'AddressReleased') end(data.uid, data.cause ?? '');
  else if (type === 'AddressBound') {
    for (const { key, known } of touched) {
      if (known.tenure?.seq !== data.alloc) wrong(`${key} is not held by event ${data.alloc}`);
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

function wrongToGive({ at, data }: Told, wanted: Address & { key: string; cooldownMs: number }): string[] {
  const { key, tenure, bindings, last, lastAt, cooldownMs } = wanted;
  if (tenure) return [`${key} is given to uid ${data.uid}, and uid ${tenure.uid} holds it since event ${tenure.seq}`];
  if (bindings.size > 0) return [`${key} is given to uid ${data.uid}, and ${[...bindings].join()} may answer on it`];
  const restedMs = Date.parse(at) - lastAt;
  if (last > 0 && data.cause === 'dynamic' && restedMs < cooldownMs)
    return [`${key} is given again ${restedMs} ms after it was left`];
  return [];
}

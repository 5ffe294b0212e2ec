/**
 * Changes that a client with write access to etcd can make, each in two forms: edited keys, and a
 * recomputed ledger.
 */
import { type Envelope, parseEvent } from '../../ledger/log/chain/chain.ts';
import { addressKey, logKey } from '../../ledger/log/store/keys.ts';

export interface TamperCase {
  readonly name: string;
  /** Changes keys only, and recomputes nothing. */
  editKeys(keys: Map<string, string>): unknown;
  /** The changed events, from which a ledger is recomputed. */
  rewriteEvents(events: readonly Envelope[]): readonly Envelope[];
}

/**
 * The numbers of events of example-ledger.ts: the release of a, the allocation of b, the refusal of
 * c, and the last event.
 */
const released = 6;
const ofB = 8;
const refusal = 9;
const last = 12;

const change = (text: string): string => text.replace('"cause":"pod-deleted"', '"cause":"operator"');
const renamed = (text: string): string => text.replaceAll('uid-b', 'uid-x').replaceAll('"pod":"b"', '"pod":"x"');
const edit = (envelope: Envelope, how: (text: string) => string): Envelope =>
  parseEvent(how(JSON.stringify(envelope))).envelope;

/** A forged allocation of .99. */
const invented = (like: Envelope): Envelope =>
  edit(like, (text) =>
    text.replaceAll('172.17.0.12', '172.17.0.99').replaceAll('uid-b', 'uid-x').replaceAll('"pod":"b"', '"pod":"x"'),
  );

const at = (events: readonly Envelope[], seq: number): Envelope => events[seq - 1] as Envelope;

const textOf = (keys: ReadonlyMap<string, string>, seq: number): string => keys.get(logKey(seq)) ?? '';

/** The keys of these events and of all later ones. */
const behind = (keys: ReadonlyMap<string, string>, seq: number): string[] =>
  [...keys.keys()].filter((key) => key >= logKey(seq) && key <= logKey(Number.MAX_SAFE_INTEGER));

export const tamperCases: readonly TamperCase[] = [
  {
    name: 'an event edited',
    editKeys: (keys) => keys.set(logKey(released), change(textOf(keys, released))),
    rewriteEvents: (events) => events.with(released - 1, edit(at(events, released), change)),
  },
  {
    name: 'an event removed that others build on',
    editKeys: (keys) => keys.delete(logKey(ofB)),
    rewriteEvents: (events) => events.toSpliced(ofB - 1, 1),
  },
  {
    name: 'an event removed that none builds on',
    editKeys: (keys) => keys.delete(logKey(refusal)),
    rewriteEvents: (events) => events.toSpliced(refusal - 1, 1),
  },
  {
    name: 'two events swapped',
    editKeys: (keys) => {
      const [one, other] = [textOf(keys, ofB), textOf(keys, refusal)];
      keys.set(logKey(ofB), other).set(logKey(refusal), one);
    },
    rewriteEvents: (events) => events.with(ofB - 1, at(events, refusal)).with(refusal - 1, at(events, ofB)),
  },
  {
    name: 'an event inserted',
    editKeys: (keys) => {
      const like = parseEvent(textOf(keys, ofB)).envelope;
      for (const key of behind(keys, ofB).reverse()) keys.set(logKey(Number(key.slice(-16)) + 1), keys.get(key) ?? '');
      keys.set(logKey(ofB), JSON.stringify(invented(like)));
    },
    rewriteEvents: (events) => events.toSpliced(ofB - 1, 0, invented(at(events, ofB))),
  },
  {
    name: 'the tail cut',
    editKeys: (keys) => {
      for (const key of behind(keys, ofB + 1)) keys.delete(key);
    },
    rewriteEvents: (events) => events.slice(0, ofB),
  },
  {
    name: "an address's key edited",
    editKeys: (keys) => {
      const key = addressKey({ subnet: 'macvlan', address: '172.17.0.12' });
      keys.set(key, renamed(keys.get(key) ?? ''));
    },
    rewriteEvents: (events) => events.map((event) => edit(event, renamed)),
  },
  {
    name: 'the whole chain rewritten',
    editKeys: (keys) => {
      for (const key of behind(keys, 1)) keys.set(key, (keys.get(key) ?? '').replaceAll('uid-', 'id-'));
    },
    rewriteEvents: (events) => events.map((event) => edit(event, (text) => text.replaceAll('uid-', 'id-'))),
  },
  {
    name: 'an event edited after the last checkpoint',
    editKeys: (keys) => keys.set(logKey(last), textOf(keys, last).replace('net1', 'net2')),
    rewriteEvents: (events) =>
      events.with(
        last - 1,
        edit(at(events, last), (text) => text.replace('net1', 'net2')),
      ),
  },
];

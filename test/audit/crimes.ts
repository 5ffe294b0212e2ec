/** What can be done to a ledger by whoever may write to etcd, each in two ways: as it is, and as the events of a log made anew. */
import { type Envelope, parseEvent } from '../../services/allocator/ledger/chain.ts';
import { addressKey, logKey } from '../../services/allocator/ledger/keys.ts';

export interface Crime {
  readonly name: string;
  /** Changes the keys themselves, and leaves what follows from them as it was. */
  naive(keys: Map<string, string>): unknown;
  /** The log as the forger would have it, to be numbered, chained and folded anew. */
  anew(events: readonly Envelope[]): readonly Envelope[];
}

/** In the story that the crimes are about (story.ts): a's release, b's allocation, c's refusal, and the last event of all. */
const released = 6;
const ofB = 8;
const refusal = 9;
const last = 12;

const change = (text: string): string => text.replace('"cause":"pod-deleted"', '"cause":"operator"');
const renamed = (text: string): string => text.replaceAll('uid-b', 'uid-x').replaceAll('"pod":"b"', '"pod":"x"');
const edit = (envelope: Envelope, how: (text: string) => string): Envelope =>
  parseEvent(how(JSON.stringify(envelope))).envelope;

/** An allocation of .99 that never was. */
const invented = (like: Envelope): Envelope =>
  edit(like, (text) =>
    text.replaceAll('172.17.0.12', '172.17.0.99').replaceAll('uid-b', 'uid-x').replaceAll('"pod":"b"', '"pod":"x"'),
  );

const at = (events: readonly Envelope[], seq: number): Envelope => events[seq - 1] as Envelope;

const textOf = (keys: ReadonlyMap<string, string>, seq: number): string => keys.get(logKey(seq)) ?? '';

/** The keys of these events and of all later ones. */
const behind = (keys: ReadonlyMap<string, string>, seq: number): string[] =>
  [...keys.keys()].filter((key) => key >= logKey(seq) && key <= logKey(Number.MAX_SAFE_INTEGER));

export const crimes: readonly Crime[] = [
  {
    name: 'an event edited',
    naive: (keys) => keys.set(logKey(released), change(textOf(keys, released))),
    anew: (events) => events.with(released - 1, edit(at(events, released), change)),
  },
  {
    name: 'an event removed that others build on',
    naive: (keys) => keys.delete(logKey(ofB)),
    anew: (events) => events.toSpliced(ofB - 1, 1),
  },
  {
    name: 'an event removed that none builds on',
    naive: (keys) => keys.delete(logKey(refusal)),
    anew: (events) => events.toSpliced(refusal - 1, 1),
  },
  {
    name: 'two events swapped',
    naive: (keys) => {
      const [one, other] = [textOf(keys, ofB), textOf(keys, refusal)];
      keys.set(logKey(ofB), other).set(logKey(refusal), one);
    },
    anew: (events) => events.with(ofB - 1, at(events, refusal)).with(refusal - 1, at(events, ofB)),
  },
  {
    name: 'an event inserted',
    naive: (keys) => {
      const like = parseEvent(textOf(keys, ofB)).envelope;
      for (const key of behind(keys, ofB).reverse()) keys.set(logKey(Number(key.slice(-16)) + 1), keys.get(key) ?? '');
      keys.set(logKey(ofB), JSON.stringify(invented(like)));
    },
    anew: (events) => events.toSpliced(ofB - 1, 0, invented(at(events, ofB))),
  },
  {
    name: 'the tail cut',
    naive: (keys) => {
      for (const key of behind(keys, ofB + 1)) keys.delete(key);
    },
    anew: (events) => events.slice(0, ofB),
  },
  {
    name: "an address's key edited",
    naive: (keys) => {
      const key = addressKey({ subnet: 'macvlan', address: '172.17.0.12' });
      keys.set(key, renamed(keys.get(key) ?? ''));
    },
    anew: (events) => events.map((event) => edit(event, renamed)),
  },
  {
    name: 'the whole chain written anew',
    naive: (keys) => {
      for (const key of behind(keys, 1)) keys.set(key, (keys.get(key) ?? '').replaceAll('uid-', 'id-'));
    },
    anew: (events) => events.map((event) => edit(event, (text) => text.replaceAll('uid-', 'id-'))),
  },
  {
    name: 'an event edited after the last checkpoint',
    naive: (keys) => keys.set(logKey(last), textOf(keys, last).replace('net1', 'net2')),
    anew: (events) =>
      events.with(
        last - 1,
        edit(at(events, last), (text) => text.replace('net1', 'net2')),
      ),
  },
];

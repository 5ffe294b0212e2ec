import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { storyOf } from './story.ts';

interface Written {
  readonly type: string;
  readonly data?: object;
  readonly before?: Record<string, number>;
  /** Seconds after the beginning; one more than the event before unless said otherwise. */
  readonly at?: number;
}

const attachment = { namespace: 'default', pod: 'web', provider: 'lan.default' };
const address = '10.0.0.2';
const configured: Written = { type: 'SubnetConfigured', data: { spec: { cooldownMs: 60_000 } } };
const allocated = (uid: string, last = 0): Written => ({
  type: 'AddressAllocated',
  data: { attachment, uid, cause: 'dynamic', addresses: [{ address }] },
  before: { [address]: last },
});
const ofAlloc = (type: string, alloc: number, last: number, data: object): Written => ({
  type,
  data: { attachment, alloc, addresses: [address], ...data },
  before: { [address]: last },
});
const released = (alloc: number, last: number, uid = 'uid-a'): Written =>
  ofAlloc('AddressReleased', alloc, last, { uid, cause: 'pod-deleted' });
const bound = (alloc: number, last: number): Written =>
  ofAlloc('AddressBound', alloc, last, { uid: 'uid-a', containerId: 'c', interface: 'net1' });
const unbound = (last: number): Written => ofAlloc('AddressUnbound', 0, last, { containerId: 'c', interface: 'net1' });

/** Lines as they stand in etcd. */
function log(...events: readonly Written[]): string[] {
  const lines: string[] = [];
  let second = 0;
  for (const [index, { type, data = {}, before = {}, at }] of events.entries()) {
    second = at ?? second + 1;
    const prev =
      index === 0
        ? ''
        : createHash('sha256')
            .update(lines[index - 1] as string)
            .digest('hex');
    const time = new Date(Date.UTC(2026, 0, 31, 8) + second * 1_000).toISOString();
    lines.push(JSON.stringify({ v: 1, seq: index + 1, type, subnet: 'lan', at: time, data, before, prev }));
  }
  return lines;
}

const wrongs = (...events: readonly Written[]): readonly string[] => storyOf(log(...events)).wrongs;

describe('the story that a log tells', () => {
  it('is about who held what, when and why that ended', () => {
    const later = { ...allocated('uid-b', 5), at: 100 };
    const story = storyOf(log(configured, allocated('uid-a'), bound(2, 2), unbound(3), released(2, 4), later));
    expect(story.wrongs).to.deep.equal([]);
    expect(story.bound).to.deep.equal([]);
    const common = { pod: 'default/web', subnet: 'lan', addresses: [address] };
    expect(story.tenures).to.deep.equal([
      { ...common, seq: 2, uid: 'uid-a', end: 'pod-deleted' },
      { ...common, seq: 6, uid: 'uid-b', end: undefined },
    ]);
  });

  it('goes on when an address is passed on, with those who answer on it', () => {
    const passed = ofAlloc('AddressTransferred', 2, 3, { fromUid: 'uid-a', uid: 'uid-b' });
    const story = storyOf(log(configured, allocated('uid-a'), bound(2, 2), passed));
    expect(story.wrongs).to.deep.equal([]);
    expect(story.bound).to.deep.equal(['c/net1']);
    expect(story.tenures.map(({ uid, end }) => [uid, end])).to.deep.equal([
      ['uid-a', 'transferred'],
      ['uid-b', undefined],
    ]);
  });

  const impossible: [string, Written[], RegExp][] = [
    [
      'held twice',
      [configured, allocated('a'), allocated('b', 2)],
      /10.0.0.2 is given to uid b, and uid a holds it since/,
    ],
    [
      'given while a container may answer on it',
      [configured, allocated('uid-a'), bound(2, 2), released(2, 3), { ...allocated('b', 4), at: 100 }],
      /is given to uid b, and c\/net1 may answer on it/,
    ],
    [
      'given before it has rested',
      [configured, allocated('uid-a'), released(2, 2), { ...allocated('b', 3), at: 62 }],
      /is given again 59000 ms after it was left/,
    ],
    [
      'released by who does not hold it',
      [configured, allocated('b'), released(2, 2)],
      /uid uid-a does not hold it, uid b does/,
    ],
    [
      'released twice',
      [configured, allocated('uid-a'), released(2, 2), released(2, 3)],
      /nobody holds anything by event 2/,
    ],
    ['bound and not held', [configured, bound(2, 0)], /lan\/10.0.0.2 is not held by event 2/],
    ['unbound and not bound', [configured, allocated('a'), unbound(2)], /lan\/10.0.0.2 is not bound to c\/net1/],
    ['without its past', [configured, allocated('a', 1)], /of lan\/10.0.0.2 event 0 came before it, not 1/],
    [
      'earlier than what came before',
      [configured, { ...allocated('a'), at: 0 }],
      /it is of .*:00.000Z, before .*:01.000Z/,
    ],
    ['of no subnet', [allocated('a')], /there is no subnet lan/],
  ];
  for (const [what, events, sentence] of impossible)
    it(`is wrong about an address that is ${what}`, () => {
      expect(wrongs(...events).join('\n')).to.match(sentence);
    });

  it('is wrong when a line is missing or was changed', () => {
    const lines = log(configured, allocated('a'), configured);
    const without = [lines[0], lines[2]] as string[];
    expect(storyOf(without).wrongs.join('\n')).to.match(/event 3 .*: number 2 is missing/);
    const changed = [lines[0], (lines[1] as string).replace('"a"', '"b"'), lines[2]] as string[];
    expect(storyOf(changed).wrongs).to.deep.equal([
      'event 3 (SubnetConfigured): it does not name the hash of the event before it',
    ]);
  });
});

import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { checkLogLines } from './log-checker.ts';

interface EventInput {
  readonly type: string;
  readonly data?: object;
  readonly before?: Record<string, number>;
  /** Seconds after the start of the log (default: one more than the event before). */
  readonly at?: number;
}

const attachment = { namespace: 'default', pod: 'web', provider: 'lan.default' };
const address = '10.0.0.2';
const configured: EventInput = { type: 'SubnetConfigured', data: { spec: { cooldownMs: 60_000 } } };
const allocated = (uid: string, last = 0): EventInput => ({
  type: 'AddressAllocated',
  data: { attachment, uid, cause: 'dynamic', addresses: [{ address }] },
  before: { [address]: last },
});
const ofAlloc = (type: string, alloc: number, last: number, data: object): EventInput => ({
  type,
  data: { attachment, alloc, addresses: [address], ...data },
  before: { [address]: last },
});
const released = (alloc: number, last: number, uid = 'uid-a'): EventInput =>
  ofAlloc('AddressReleased', alloc, last, { uid, cause: 'pod-deleted' });
const bound = (alloc: number, last: number): EventInput =>
  ofAlloc('AddressBound', alloc, last, { uid: 'uid-a', containerId: 'c', interface: 'net1' });
const unbound = (last: number): EventInput =>
  ofAlloc('AddressUnbound', 0, last, { containerId: 'c', interface: 'net1' });

/** Formats lines as in etcd. */
function log(...events: readonly EventInput[]): string[] {
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

const violationsOf = (...events: readonly EventInput[]): readonly string[] => checkLogLines(log(...events)).violations;

describe('The log checker', () => {
  it('The log checker lists the allocation periods of each Pod and the causes of their ends', () => {
    const later = { ...allocated('uid-b', 5), at: 100 };
    const report = checkLogLines(log(configured, allocated('uid-a'), bound(2, 2), unbound(3), released(2, 4), later));
    expect(report.violations).to.deep.equal([]);
    expect(report.openBindings).to.deep.equal([]);
    const common = { pod: 'default/web', subnet: 'lan', addresses: [address] };
    expect(report.allocationPeriods).to.deep.equal([
      { ...common, seq: 2, uid: 'uid-a', end: 'pod-deleted' },
      { ...common, seq: 6, uid: 'uid-b', end: undefined },
    ]);
  });

  it('The log checker keeps the bindings of a transferred address', () => {
    const passed = ofAlloc('AddressTransferred', 2, 3, { fromUid: 'uid-a', uid: 'uid-b' });
    const report = checkLogLines(log(configured, allocated('uid-a'), bound(2, 2), passed));
    expect(report.violations).to.deep.equal([]);
    expect(report.openBindings).to.deep.equal(['c/net1']);
    expect(report.allocationPeriods.map(({ uid, end }) => [uid, end])).to.deep.equal([
      ['uid-a', 'transferred'],
      ['uid-b', undefined],
    ]);
  });

  const impossible: [string, EventInput[], RegExp][] = [
    [
      'held twice',
      [configured, allocated('a'), allocated('b', 2)],
      /10.0.0.2 is allocated to uid b, but uid a holds it since/,
    ],
    [
      'allocated while a container may answer on it',
      [configured, allocated('uid-a'), bound(2, 2), released(2, 3), { ...allocated('b', 4), at: 100 }],
      /is allocated to uid b, but c\/net1 may answer on it/,
    ],
    [
      'allocated during its cooldown',
      [configured, allocated('uid-a'), released(2, 2), { ...allocated('b', 3), at: 62 }],
      /is allocated again 59000 ms after its release/,
    ],
    [
      'released by a Pod that does not hold it',
      [configured, allocated('b'), released(2, 2)],
      /uid uid-a does not hold it, uid b does/,
    ],
    [
      'released twice',
      [configured, allocated('uid-a'), released(2, 2), released(2, 3)],
      /no Pod holds an address by event 2/,
    ],
    ['bound without an allocation', [configured, bound(2, 0)], /lan\/10.0.0.2 is not held by event 2/],
    ['unbound without a binding', [configured, allocated('a'), unbound(2)], /lan\/10.0.0.2 is not bound to c\/net1/],
    ['without its earlier event', [configured, allocated('a', 1)], /of lan\/10.0.0.2 event 0 came before it, not 1/],
    [
      'older than the event before it',
      [configured, { ...allocated('a'), at: 0 }],
      /its time .*:00.000Z is before .*:01.000Z/,
    ],
    ['of an unknown subnet', [allocated('a')], /there is no subnet lan/],
  ];
  for (const [what, events, sentence] of impossible)
    it(`The log checker rejects an address that is ${what}`, () => {
      expect(violationsOf(...events).join('\n')).to.match(sentence);
    });

  it('The log checker rejects a log with a missing or changed line', () => {
    const lines = log(configured, allocated('a'), configured);
    const without = [lines[0], lines[2]] as string[];
    expect(checkLogLines(without).violations.join('\n')).to.match(/event 3 .*: number 2 is missing/);
    const changed = [lines[0], (lines[1] as string).replace('"a"', '"b"'), lines[2]] as string[];
    expect(checkLogLines(changed).violations).to.deep.equal([
      'event 3 (SubnetConfigured): its prev is not the hash of the event before it',
    ]);
  });
});

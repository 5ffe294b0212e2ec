/** The checker of histories accepts correct ones, and finds each kind of planted mistake. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { checkHistory } from './check-history.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const [subnet, address] = ['lan', '10.0.0.2'];
const attachment = { namespace: 'default', pod: 'a', provider: 'lan.default' };
const free = { uid: '', seq: 0, owner: '', quarantined: false, bindings: [] };
const given = (uid: string, seq: number) => [{ subnet, addresses: [address], uid, seq }];

/** An operation that is answered at an event. */
interface Step {
  readonly kind: string;
  readonly outcome?: string;
  readonly at?: number;
  readonly [field: string]: unknown;
}

/** An event of the log, without its number, chain and `before`. */
interface Entry {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly part?: readonly [number, number];
  readonly cmd?: string;
  readonly before?: Readonly<Record<string, number>>;
  readonly at?: string;
}

const configured: Entry = { type: 'SubnetConfigured', data: { spec: { cooldownMs: 0 }, source: { uid: 'spec-1' } } };
const allocated = (uid: string, pod = 'a'): Entry => ({
  type: 'AddressAllocated',
  data: { attachment: { ...attachment, pod }, uid, addresses: [{ address }], cause: 'dynamic' },
});
const released = (uid: string, alloc: number): Entry => ({
  type: 'AddressReleased',
  data: { attachment, uid, alloc, addresses: [address], ended: true },
});

/** Makes the lines of a log with these events. */
function chain(entries: readonly Entry[]): string[] {
  let [prev, last] = ['', 0];
  return entries.map(({ type, data, part = [1, 1], cmd, before, at }, index) => {
    const seq = index + 1;
    const touches = 'addresses' in data;
    const line = JSON.stringify({
      seq,
      cmd: cmd ?? `command-${seq - part[0]}`,
      part,
      type,
      subnet,
      at: at ?? `2026-01-31T08:00:0${seq}.000Z`,
      data,
      before: before ?? (touches ? { [address]: last } : {}),
      prev,
    });
    prev = sha256(line);
    if (touches) last = seq;
    return line;
  });
}

/** Finds the violations of operations, each of which is answered before the next begins. */
async function violationsOf(steps: readonly Step[], log: readonly string[] = [], more: readonly object[] = []) {
  const operations = steps.map(({ outcome = 'ok', at, ...fields }, index) => ({
    operation: {
      request: `request-${index}`,
      subnet,
      address: fields.kind === 'getAddress' ? address : '',
      pod: 'a',
      start: 10 * index,
      end: 10 * index + 5,
      outcome,
      ...(at !== undefined && { position: { epoch: 1, seq: at, hash: sha256(log[at - 1] ?? '') } }),
      ...fields,
    },
  }));
  const lines = [...operations, ...log.map((event) => ({ event })), ...more].map((line) => JSON.stringify(line));
  return (await checkHistory(lines)).violations;
}

const allocate = (uid: string, seq: number, more: object = {}): Step => ({
  kind: 'allocate',
  uid,
  allocations: given(uid, seq),
  ...more,
});
const release = (uid: string, count: number, more: object = {}): Step => ({ kind: 'release', uid, count, ...more });
const read = (record: object, more: object = {}): Step => ({
  kind: 'getAddress',
  record: { ...free, ...record },
  ...more,
});
const list = (uid: string, seq: number): Step => ({ kind: 'list', allocations: uid === '' ? [] : given(uid, seq) });

describe('history-checker', () => {
  const rightLog = chain([configured, allocated('a-1'), released('a-1', 2), allocated('a-2')]);
  const rightSteps = [
    allocate('a-1', 2, { at: 2 }),
    read({ uid: 'a-1', seq: 2 }, { at: 2 }),
    release('a-1', 1, { at: 3 }),
    read({}, { at: 3 }),
    allocate('a-2', 4, { at: 4 }),
    read({ uid: 'a-2', seq: 4 }, { at: 4 }),
  ];
  const deliveries = (log: readonly string[]) =>
    log.map((line, index) => ({ delivery: { watcher: 'one', seq: index + 1, sha256: sha256(line), ends: true } }));
  const claim = (record: object) => ({ claim: { key: `${subnet}/${address}`, ...free, ...record } });

  it('history-checker accepts a history that is linearizable, with its log, its claims and its streams', async () => {
    const more = [...deliveries(rightLog), claim({ uid: 'a-2', seq: 4 })];
    expect(await violationsOf(rightSteps, rightLog, more)).to.deep.equal([]);
  });

  it('history-checker accepts a release without an answer that takes effect later, or never', async () => {
    const unanswered = { outcome: 'unknown' };
    const kept = chain([configured, allocated('a-1')]);
    const held = read({ uid: 'a-1', seq: 2 }, { at: 2 });
    expect(
      await violationsOf([allocate('a-1', 2, { at: 2 }), release('a-1', 0, unanswered), held], kept),
    ).to.deep.equal([]);
    const late = chain([configured, allocated('a-1'), released('a-1', 2)]);
    const steps = [allocate('a-1', 2, { at: 2 }), release('a-1', 0, unanswered), held, read({}, { at: 3 })];
    expect(await violationsOf(steps, late)).to.deep.equal([]);
  });

  const orders: Readonly<Record<string, readonly Step[]>> = {
    'an address that two Pods got': [allocate('a-1', 2), { ...allocate('b-1', 3), pod: 'b' }],
    'a stale read of an address': [allocate('a-1', 2), release('a-1', 1), read({ uid: 'a-1', seq: 2 })],
    'a stale list of a Pod': [allocate('a-1', 2), release('a-1', 1), list('a-1', 2)],
    'a lost release': [allocate('a-1', 2), release('a-1', 1), release('a-1', 1)],
    'a lost binding': [
      allocate('a-1', 2),
      { kind: 'bind', uid: 'a-1', container: 'c', node: 'n', allocations: given('a-1', 2) },
      read({ uid: 'a-1', seq: 2 }),
    ],
    'a lost reservation': [{ kind: 'reserve', address, owner: 'vip/a' }, read({})],
    'a lost quarantine': [{ kind: 'quarantine', address }, read({})],
    'a lost change of a Subnet': [
      { kind: 'apply', value: 'one' },
      { kind: 'apply', value: 'two' },
      { kind: 'getSubnet', value: 'one' },
    ],
    'a repeated request with another answer': [allocate('a-1', 2), allocate('a-1', 3)],
    'an address for a Pod that has ended': [allocate('a-1', 2), release('a-1', 1), allocate('a-1', 4)],
    'an outdated request that takes over': [allocate('a-1', 5), allocate('a-2', 7, { seenSeq: 4 })],
    'a refusal of a free address': [
      { kind: 'allocate', uid: 'a-1', address, outcome: 'refused', code: 'ADDRESS_IN_USE' },
    ],
    'a read that goes back': [
      { kind: 'quarantine', address },
      read({ quarantined: true }),
      read({}),
      read({ quarantined: true }),
    ],
  };
  for (const [name, steps] of Object.entries(orders))
    it(`history-checker finds ${name} from the answers alone`, async () => {
      const violations = await violationsOf(steps);
      expect(violations.join('\n')).to.match(/no order of its \d operations explains their answers/);
    });

  const logs: Readonly<Record<string, readonly [violation: RegExp, log: readonly string[], more?: readonly object[]]>> =
    {
      'an address with two holders': [
        /was allocated to uid "b-1", although it has/,
        chain([configured, allocated('a-1'), allocated('b-1', 'b')]),
      ],
      'a release of a later holder': [
        /is held by "a-2" by event 4, not by "a-1" by event 2/,
        chain([configured, allocated('a-1'), released('a-1', 2), allocated('a-2'), released('a-1', 2)]),
      ],
      'an allocation to a Pod that has ended': [
        /was allocated to uid "a-1", which has ended/,
        chain([configured, allocated('a-1'), released('a-1', 2), allocated('a-1')]),
      ],
      'a missing event': [/event 4 stands where event 3 is expected/, rightLog.toSpliced(2, 1)],
      'a changed event': [
        /its prev is not the hash/,
        rightLog.with(1, rightLog[1]?.replace('dynamic', 'static') ?? ''),
      ],
      'a wrong link to the event before': [
        /event 2 was the last one about lan\/10.0.0.2, and it names event 1/,
        chain([configured, allocated('a-1'), { ...released('a-1', 2), before: { [address]: 1 } }]),
      ],
      'a time that goes back': [
        /is before 2026-01-31T08:00:09/,
        chain([{ ...configured, at: '2026-01-31T08:00:09.000Z' }, allocated('a-1')]),
      ],
      'half of a command': [
        /the log ends inside of a command/,
        chain([configured, { ...allocated('a-1'), part: [1, 2] }]),
      ],
      'a command without its second part': [
        /event 3 is part 3 of 3 after part 1 of 3/,
        chain([
          configured,
          { ...allocated('a-1'), part: [1, 3] },
          { ...released('a-1', 2), part: [3, 3], cmd: 'command-1' },
        ]),
      ],
      'a command that becomes shorter': [
        /event 3 is part 2 of 2 after part 1 of 3/,
        chain([configured, { ...allocated('a-1'), part: [1, 3] }, { ...released('a-1', 2), part: [2, 2] }]),
      ],
      'a claim that differs from the log': [/the claim lan\/10.0.0.2 has/, rightLog, [claim({})]],
      'a claim that is missing': [
        /has events about lan\/10.0.0.2, and there is no claim/,
        rightLog,
        [claim({ key: 'lan/other' })],
      ],
      'a stream that leaves an event out': [
        /delivered event 3 where event 2 is expected/,
        rightLog,
        deliveries(rightLog).toSpliced(1, 1),
      ],
      'a stream that repeats an event': [
        /delivered event 1 where event 2 is expected/,
        rightLog,
        [...deliveries(rightLog).slice(0, 1), ...deliveries(rightLog)],
      ],
      'a stream with other bytes': [
        /delivered other bytes of event 4/,
        rightLog,
        deliveries([...rightLog.slice(0, 3), 'other']),
      ],
      'a stream that ends early': [/did not deliver event 4/, rightLog, deliveries(rightLog.slice(0, 3))],
    };
  for (const [name, [violation, log, more]] of Object.entries(logs))
    it(`history-checker finds ${name} in the log, the claims or the streams`, async () => {
      expect((await violationsOf([], log, more)).join('\n')).to.match(violation);
    });

  it('history-checker finds an answer at a position that the log lacks, or that is before the position of an earlier answer', async () => {
    const elsewhere = { ...read({}), position: { epoch: 1, seq: 3, hash: 'other' } };
    expect((await violationsOf([elsewhere], rightLog)).join('\n')).to.contain('and the log has');
    const back = [read({}, { at: 3 }), read({ uid: 'a-1', seq: 2 }, { at: 2 })];
    expect((await violationsOf(back, rightLog)).join('\n')).to.contain('was answered before its call at event 3');
    const early = [read({ uid: 'a-1', seq: 2 }, { at: 2, local: true, minSeq: 3 })];
    expect((await violationsOf(early, rightLog)).join('\n')).to.contain('before its min_seq 3');
  });

  it('history-checker finds an answer without a position', async () => {
    const lost = [allocate('a-1', 2, { at: 2 }), read({ uid: 'a-1', seq: 2 }), list('a-1', 2)];
    const violations = await violationsOf(lost, rightLog.slice(0, 2));
    expect(violations).to.have.length(2);
    for (const each of violations) expect(each).to.match(/its answer has no position$/);
  });

  it('history-checker finds a read of an address without a record', async () => {
    const empty = [{ kind: 'getAddress', at: 2 }];
    expect((await violationsOf(empty, rightLog)).join('\n')).to.contain('has no record');
  });

  it('history-checker finds a refusal with a code that the request cannot cause', async () => {
    const refused = { outcome: 'refused', uid: 'a-1' };
    const wrong = [
      { ...refused, kind: 'release', code: 'POD_SUPERSEDED' },
      { ...refused, kind: 'attach', code: 'POD_SUPERSEDED' },
      { ...refused, kind: 'allocate', code: 'INVALID_REQUEST' },
      { ...refused, kind: 'apply', code: 'SUBNET_INVALID' },
    ];
    const found = (await violationsOf(wrong)).join('\n');
    for (const { kind, code } of wrong)
      expect(found).to.match(new RegExp(`${kind} .*no such request is refused with ${code}`));
  });

  it('history-checker finds a LOCAL read that differs from the log at its position', async () => {
    const wrong = [read({ uid: 'a-2', seq: 4 }, { at: 2, local: true })];
    expect((await violationsOf(wrong, rightLog)).join('\n')).to.contain('at event 2 the log has');
  });
});

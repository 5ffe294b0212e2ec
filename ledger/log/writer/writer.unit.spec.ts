import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { describeState } from '../../domain/testing/describe-state.ts';
import { allocate, allocateAll } from '../../domain/testing/event-fixtures.ts';
import { Refused } from '../../domain/commands/refusal.ts';
import type { State } from '../../domain/state/state.ts';
import type { PendingRequest } from '../pending-request.ts';
import { LedgerClock } from '../chain/ledger-clock.ts';
import { headKey } from '../store/keys.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { Replica } from '../reader/replica.ts';
import {
  countTurns,
  waitForRetries,
  requestFor,
  bind,
  submitAll,
  createLedger,
  describeFold,
  failureOf,
  createLatch,
  smallAttachment,
  logOf,
  macvlan,
  never,
  release,
  small,
  startUnreliableWriter,
  startWriter,
  typesOf,
  unbind,
  type RunningWriter,
} from '../testing/running-writer.ts';
import { sealLines, type UnreliableLedger } from '../testing/unreliable-ledger.ts';
import type { EventVersion } from '../../domain/events/schema-version.ts';
import type { AppendStats } from './writer.ts';

describe('The writer', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: RunningWriter;
  beforeEach(async () => {
    ({ memory, ledger, working } = await startUnreliableWriter());
  });
  afterEach(async () => void (await working.stop()));

  const submit = (...args: Parameters<typeof requestFor>) => working.writer.submit(requestFor(...args));

  it('The writer answers a query after a read of the head, without a read of the log', async () => {
    const { read } = ledger;
    let reads = 0;
    ledger.read = (...args) => (reads++, read.apply(ledger, args));
    const { head } = await working.writer.submit({ answer: () => 'answer', actor: '', signal: never });
    expect([head.seq, reads]).to.deep.equal([working.replica.head.seq, 0]);
  });

  it('The writer returns the head at which an answer is true', async () => {
    const first = await submit(allocate('a'));
    expect(first.answer).to.deep.equal({ events: 1, addresses: ['172.17.0.11'] });
    const [event] = (await logOf(memory)).slice(-1);
    expect(first.head).to.deep.include({ epoch: 1, seq: 4, hash: event?.hash });
    const again = await submit(allocate('a'));
    expect(again).to.deep.equal({ answer: { events: 0, addresses: ['172.17.0.11'] }, head: first.head });
  });

  it('The writer reports each append with its outcome, the number of its events, and its duration', async () => {
    const appends: AppendStats[] = [];
    const beganAt = performance.now();
    const reporting = await startWriter(new MemoryLedger(), { onAppend: (append) => appends.push(append) });
    await submitAll(reporting.writer, createLedger(), macvlan, macvlan);
    await reporting.stop();
    const passedMs = performance.now() - beganAt;
    expect(reporting.writer.attemptedBatches, 'the repeated Subnet writes nothing').to.equal(3);
    expect(appends.map(({ outcome, events }) => [outcome, events])).to.deep.equal([
      ['appended', 1],
      ['appended', 1],
    ]);
    for (const { ms } of appends) expect(ms).to.be.within(0, passedMs);
  });

  it('The writer writes the first requests of its term in one transaction', async () => {
    const appends: AppendStats[] = [];
    const first = await startWriter(new MemoryLedger(), { onAppend: (append) => appends.push(append) });
    const now = performance.now.bind(performance);
    performance.now = () => 0; // no turn is over, on any machine
    const all = [createLedger(), macvlan, small].map((command) => first.writer.submit(requestFor(command)));
    await Promise.all(all).finally(() => (performance.now = now));
    await first.stop();
    expect(appends.map(({ events }) => events)).to.deep.equal([3]);
  });

  it('The writer makes no pause after a batch that succeeded', async () => {
    let pauses = 0;
    const retry = {
      get firstMs() {
        pauses++;
        return 1;
      },
      maxMs: 1,
    };
    const prompt = await startWriter(new MemoryLedger(), { retry });
    await submitAll(prompt.writer, createLedger(), macvlan, allocate('a'), allocate('a'));
    await prompt.stop();
    expect(pauses).to.equal(0);
  });

  it('The writer writes waiting requests in one transaction, in order', async () => {
    const before = ledger.tried.length;
    const now = performance.now.bind(performance);
    performance.now = () => 0; // no turn is over, on any machine
    const all = Array.from({ length: 100 }, (_, index) => submit(allocate(`pod-${index}`)));
    const answers = await Promise.all(all).finally(() => (performance.now = now));
    expect(answers.map(({ answer }) => answer.addresses[0])).to.deep.equal(
      Array.from({ length: 100 }, (_, index) => `172.17.0.${11 + index}`),
    );
    expect(answers.map(({ head }) => head.seq)).to.deep.equal(Array.from({ length: 100 }, (_, index) => 4 + index));
    expect(ledger.tried.length - before, '63 allocations and the head fill a transaction').to.be.at.most(3);
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(await logOf(memory)));
  });

  it('The writer writes the newest schema version that all replicas can read, even if that changes between batches', async () => {
    let version: EventVersion = 1;
    await working.stop();
    working = await startWriter(ledger, { eventVersion: () => version });
    const versions = (): Promise<number[]> => logOf(memory).then((log) => log.slice(3).map(({ envelope: { v } }) => v));
    await submitAll(working.writer, allocate('a'), bind('a'), unbind('a'));
    expect(await versions()).to.deep.equal([1, 1, 1]);
    version = 2;
    await submitAll(working.writer, allocate('b'));
    expect(await versions()).to.deep.equal([1, 1, 1, 2]);
    const spec = { subnet: 'macvlan', ips: ['172.17.0.20'], namespaces: [] };
    const tooNew = await failureOf(submit({ type: 'ApplyPool', name: 'blue', spec }));
    expect(tooNew).to.have.property('code', 'UNAVAILABLE');
    expect(tooNew.message).to.contain(
      'PoolConfigured needs event version 3, but an allocator replica reads only versions up to 2: upgrade that replica',
    );
    version = 3;
    await submitAll(working.writer, { type: 'ApplyPool', name: 'blue', spec });
    expect(await versions()).to.deep.equal([1, 1, 1, 2, 3]);
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(await logOf(memory)));
  });

  it('The writer writes a namespace limit only when all replicas enforce it', async () => {
    let version: EventVersion = 4;
    await working.stop();
    working = await startWriter(ledger, { eventVersion: () => version });
    const plain = { cidrBlock: '10.9.0.0/24', gateway: '', excludeIps: [], provider: 'nine.default', protocol: '' };
    const apply = (spec: object = {}) => submit({ type: 'ApplySubnet', name: 'nine', spec: { ...plain, ...spec } });
    const tooNew = await failureOf(apply({ maxAddressesPerNamespace: 2 }));
    expect(tooNew.message).to.contain(
      'SubnetConfigured needs event version 5, but an allocator replica reads only versions up to 4: upgrade that replica',
    );
    await apply();
    version = 5;
    await apply({ maxAddressesPerNamespace: 2 });
    expect((await logOf(memory)).slice(3).map(({ envelope: { v } }) => v)).to.deep.equal([4, 5]);
  });

  it('The writer writes that a Subnet probes its addresses only when all replicas know what a probe finds', async () => {
    await working.stop();
    working = await startWriter(ledger, { eventVersion: () => 8 });
    const spec = { cidrBlock: '10.9.0.0/24', gateway: '', excludeIps: [], provider: 'nine.default', protocol: '' };
    const apply = (probeAddresses: boolean) =>
      submit({ type: 'ApplySubnet', name: 'nine', spec: { ...spec, probeAddresses } });
    expect((await failureOf(apply(true))).message).to.contain('SubnetConfigured needs event version 9');
    await apply(false);
    expect((await logOf(memory)).at(-1)?.envelope.v).to.equal(8);
  });

  it('The writer answers no request before its transaction is committed: new, repeated or refused', async () => {
    await submit(allocate('held', { candidates: [['172.17.0.100']] }));
    const latch = ledger.holdAppend();
    const answered: string[] = [];
    const note = (what: string) => (): void => void answered.push(what);
    const all = [
      submit(allocate('a')).then(note('new')),
      submit(allocate('held')).then(note('repeated')),
      failureOf(submit(allocate('b', { candidates: [['172.17.0.100']] }))).then(note('refused')),
      failureOf(submit({ ...macvlan, name: 'NO NAME' } as typeof macvlan)).then(note('refused without a record')),
      working.writer.submit({ answer: () => 1, actor: '', signal: never }).then(note('query')),
      failureOf(
        working.writer.submit({
          ...requestFor(allocate('c')),
          command: () => {
            throw new Error('oh');
          },
        }),
      ).then(note('thrown')),
    ];
    await waitForRetries();
    expect(answered).to.deep.equal([]);
    latch.open();
    await Promise.all(all);
    expect(answered).to.have.length(all.length);
  });

  it('The writer answers no request without events before it has read the head', async () => {
    await submit(allocate('a'));
    const latch = createLatch();
    ledger.readable = latch.opened;
    const before = ledger.tried.length;
    let answered = 0;
    const all = [
      submit(allocate('a')).then(() => answered++),
      submit(release('unknown')).then(() => answered++),
      failureOf(submit({ type: 'RetireSubnet', name: 'macvlan' })).then(() => answered++),
    ];
    await waitForRetries();
    expect(answered).to.equal(0);
    latch.open();
    await Promise.all(all);
    expect(ledger.tried.length).to.equal(before);
  });

  it('The writer answers no query from a state that is behind', async () => {
    const other = await startWriter(memory);
    await submitAll(other.writer, allocate('a'));
    await other.stop();
    const { answer } = await working.writer.submit({ answer: (state) => state.pods.size, actor: '', signal: never });
    expect(answer).to.equal(1);
  });

  it('The writer rejects a query whose caller left during a read of the log, and answers the others', async () => {
    const other = await startWriter(memory);
    await submitAll(other.writer, allocate('a'));
    await other.stop();
    const leaving = new AbortController();
    const { read } = ledger;
    ledger.read = (...args) => (leaving.abort(), read.apply(ledger, args));
    const query = { answer: (state: State) => state.pods.size, actor: '' };
    const left = failureOf(working.writer.submit({ ...query, signal: leaving.signal }));
    expect((await working.writer.submit({ ...query, signal: never })).answer).to.equal(1);
    expect(await Promise.race([left, turn()])).to.have.property('code', 'CANCELLED');
  });

  it('The writer answers queries that waited for the log in slices, so that timers and sockets do not wait for all of them', async () => {
    const other = await startWriter(memory);
    await submitAll(other.writer, allocate('a'));
    await other.stop();
    const turns = countTurns();
    const answeredIn = await Promise.all(
      [0, 1, 2].map(() => working.writer.submit({ answer: () => turns.spend(20), actor: '', signal: never })),
    ).finally(turns.end);
    expect(new Set(answeredIn.map(({ answer }) => answer)).size).to.equal(3);
  });

  it('The writer answers a query when the head can be read again, and stays the writer until then', async () => {
    ledger.failingReads = 3;
    const query = { answer: (state: State) => state.pods.size, actor: '', signal: never };
    expect((await working.writer.submit(query)).answer).to.equal(0);
    expect(ledger.failingReads).to.equal(0);
    expect((await submit(allocate('a'))).answer.addresses).to.deep.equal(['172.17.0.11']);
  });

  it('The writer stops when the events of another writer are sealed before it reads them, and never repeats that read', async () => {
    const other = await startWriter(memory);
    await submitAll(other.writer, allocate('a'));
    await other.stop();
    sealLines(ledger);
    const query = { answer: (state: State) => state.pods.size, actor: '', signal: never };
    expect(await failureOf(working.writer.submit(query))).to.have.property('code', 'NOT_WRITER');
    expect(await working.stop()).to.have.property('code', 'POSITION_GONE');
  });

  it('The writer answers no query when the head is another event of the same number', async () => {
    const { hash } = working.replica.head;
    memory.put(headKey, (memory.get(headKey) as string).replace(hash, hash.replaceAll(/./g, 'f')));
    const answer = working.writer.submit({ answer: (state) => state.pods.size, actor: '', signal: never });
    expect(await failureOf(answer)).to.have.property('code', 'NOT_WRITER');
    expect(await working.stop()).to.have.property('code', 'LEDGER_DAMAGED');
  });

  it('The writer allocates no address twice in two consecutive transactions', async () => {
    const first = [submit(allocate('a', smallAttachment)), submit(allocate('b', smallAttachment))];
    await turn();
    const second = [submit(allocate('c', smallAttachment)), failureOf(submit(allocate('d', smallAttachment)))] as const;
    const allocated = (await Promise.all([...first, second[0]])).flatMap(({ answer }) => answer.addresses);
    expect(allocated.toSorted()).to.deep.equal(['10.0.0.2', '10.0.0.3', '10.0.0.4']);
    expect(await second[1]).to.have.property('code', 'SUBNET_FULL');
  });

  it('The writer fails only the request whose command throws, and undoes it', async () => {
    const bad = (more: Partial<PendingRequest<unknown>>) =>
      failureOf(working.writer.submit({ ...requestFor(allocate('bad')), ...more }));
    const boom = (): never => {
      throw new TypeError('boom');
    };
    const [before, thrown, late, after] = await Promise.all([
      submit(allocate('a')),
      bad({ command: boom }),
      bad({ answer: boom }),
      submit(allocate('b')),
    ]);
    for (const error of [thrown, late]) expect(error).to.deep.include({ code: 'BUG', message: 'boom' });
    expect([before, after].map(({ answer }) => answer.addresses)).to.deep.equal([['172.17.0.11'], ['172.17.0.12']]);
    const pods = (await logOf(memory)).flatMap(({ envelope: { data } }) =>
      'attachment' in data ? [data.attachment.pod] : [],
    );
    expect(pods).to.deep.equal(['a', 'b']);
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(await logOf(memory)));
  });

  it('The writer returns the refusal of a query to its caller', async () => {
    const answer = (): never => {
      throw new Refused('SUBNET_UNKNOWN', 'no subnet x is configured');
    };
    const error = await failureOf(working.writer.submit({ answer, actor: '', signal: never }));
    expect(error).to.deep.include({ code: 'SUBNET_UNKNOWN', message: 'no subnet x is configured' });
  });

  it('The writer rejects a request whose caller has left', async () => {
    const error = await failureOf(submit(allocate('a'), AbortSignal.abort()));
    expect(error).to.have.property('code', 'CANCELLED');
    expect(typesOf(await logOf(memory))).to.not.include('AddressAllocated');
  });

  it('The writer refuses a request that fits into no transaction, and continues', async () => {
    await working.stop();
    const narrow = new MemoryLedger({ ops: 6, bytes: 1 << 20 });
    working = await startWriter(narrow);
    await submitAll(working.writer, createLedger(), macvlan);
    const three = allocateAll('a', [{}, { ordinal: 1 }, { ordinal: 2 }]);
    expect(await failureOf(submit(three))).to.deep.include({
      code: 'INVALID_REQUEST',
      message: 'the request does not fit into one etcd transaction: request fewer attachments',
    });
    await submit(allocate('b'));
  });

  it('The writer refuses to allocate and release while the ledger is frozen, but imports allocations', async () => {
    await submit(allocate('a'));
    await memory.freeze({ epoch: 1, seq: 99, hash: 'h', by: 'client', at: '' }, await memory.head(never), never);
    const importOf = { ...allocate('c', { candidates: [['172.17.0.77']] }), import: true } as const;
    const [repeated, allocated, released, imported] = await Promise.allSettled(
      [allocate('a'), allocate('b'), release('a'), importOf].map((each) => submit(each)),
    );
    for (const refused of [allocated, released])
      expect(refused).to.have.property('reason').that.has.property('code', 'LEDGER_FROZEN');
    expect(repeated).to.have.property('status', 'fulfilled');
    expect(imported).to.have.nested.property('value.answer.addresses[0]', '172.17.0.77');
    await memory.unfreeze(never);
    expect((await submit(allocate('b'))).answer.events).to.equal(1);
  });

  it('The writer never writes a time before that of the previous event, when the clock is set back', async () => {
    const times = [5_000, 5_000, 9_000, 2_000, 2_001];
    const clock = new LedgerClock({ wall: () => times.shift() ?? 2_002, monotonic: () => 0 });
    const other = new MemoryLedger();
    const { writer, stop } = await startWriter(other, { replica: await Replica.load(other, never, clock) });
    const now = performance.now.bind(performance);
    performance.now = () => 0; // no turn is over, so all are in a batch, on any machine
    await Promise.all(
      [createLedger(), macvlan, small, allocate('a')].map((command) => writer.submit(requestFor(command))),
    ).finally(() => (performance.now = now));
    await stop();
    const log = await logOf(other);
    expect(log.map(({ sequenced }) => sequenced.at)).to.deep.equal([5_000, 9_000, 9_000, 9_000]);
    expect(log.map(({ envelope }) => envelope.clock)).to.deep.equal([
      undefined,
      undefined,
      '1970-01-01T00:00:02.000Z',
      '1970-01-01T00:00:02.001Z',
    ]);
  });

  describe('recording a refusal', () => {
    const taken = { candidates: [['172.17.0.100']] };
    const refusals = async (): Promise<string[]> =>
      (await logOf(memory)).flatMap(({ envelope: { type, data } }) =>
        type === 'AllocationRefused' && 'attachment' in data && 'reason' in data ? [`${data.uid} ${data.reason}`] : [],
      );
    beforeEach(async () => void (await submit(allocate('holder', taken))));

    it('For refusals, the writer writes one event per Pod uid and reason, for any number of requests', async () => {
      const many = Array.from({ length: 5 }, () => failureOf(submit(allocate('a', taken))));
      for (const error of await Promise.all(many)) expect(error).to.have.property('code', 'ADDRESS_IN_USE');
      await failureOf(submit(allocate('a', taken)));
      await failureOf(submit(allocate('a', { subnets: ['nowhere'] })));
      await failureOf(submit(allocate('b', taken)));
      expect(await refusals()).to.deep.equal(['uid-a ADDRESS_IN_USE', 'uid-a SUBNET_UNKNOWN', 'uid-b ADDRESS_IN_USE']);
    });

    it('For refusals, the writer writes no event when another writer has recorded the same refusal', async () => {
      const other = await startWriter(memory);
      await failureOf(other.writer.submit(requestFor(allocate('a', taken))));
      await other.stop();
      await failureOf(submit(allocate('a', taken)));
      expect(await refusals()).to.deep.equal(['uid-a ADDRESS_IN_USE']);
    });

    it('For refusals, the writer writes no event for a refusal that is larger than a transaction, and still returns the refusal', async () => {
      await working.stop();
      const narrow = new MemoryLedger({ ops: 128, bytes: 3_000 });
      working = await startWriter(narrow);
      await submitAll(working.writer, createLedger(), macvlan);
      const subnets = Array.from({ length: 24 }, (_, index) => `s${index}`.padEnd(250, 'x'));
      expect(await failureOf(submit(allocate('a', { subnets })))).to.have.property('code', 'SUBNET_UNKNOWN');
      expect(typesOf(await logOf(narrow))).to.not.include('AllocationRefused');
    });
  });
});

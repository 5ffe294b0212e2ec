import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { describeState } from '../domain/describe.ts';
import { allocate, allocateAll } from '../domain/specification.ts';
import { Refused } from '../domain/refusal.ts';
import type { Ask } from './ask.ts';
import { LedgerClock } from './clock.ts';
import { MemoryLedger } from './memory.ts';
import { Replica } from './replica.ts';
import {
  afterAWhile,
  ask,
  bind,
  carryOut,
  createLedger,
  describeFold,
  failureOf,
  gate,
  inSmall,
  logOf,
  macvlan,
  never,
  release,
  small,
  startUnreliable,
  startWriter,
  typesOf,
  unbind,
  type Working,
} from './specification.ts';
import type { UnreliableLedger } from './unreliable.ts';
import type { EventVersion } from './upcast.ts';

describe('The writer', () => {
  let memory: MemoryLedger;
  let ledger: UnreliableLedger;
  let working: Working;
  beforeEach(async () => {
    ({ memory, ledger, working } = await startUnreliable());
  });
  afterEach(async () => void (await working.stop()));

  const submit = (...args: Parameters<typeof ask>) => working.writer.submit(ask(...args));

  it('answers with the place in the ledger at which the answer is true', async () => {
    const first = await submit(allocate('a'));
    expect(first.answer).to.deep.equal({ events: 1, addresses: ['172.17.0.11'] });
    const [event] = (await logOf(memory)).slice(-1);
    expect(first.head).to.deep.include({ epoch: 1, seq: 4, hash: event?.hash });
    const again = await submit(allocate('a'));
    expect(again).to.deep.equal({ answer: { events: 0, addresses: ['172.17.0.11'] }, head: first.head });
  });

  it('writes what waits together in one transaction, in order', async () => {
    const before = ledger.tried.length;
    const all = Array.from({ length: 100 }, (_, index) => submit(allocate(`pod-${index}`)));
    const answers = await Promise.all(all);
    expect(answers.map(({ answer }) => answer.addresses[0])).to.deep.equal(
      Array.from({ length: 100 }, (_, index) => `172.17.0.${11 + index}`),
    );
    expect(answers.map(({ head }) => head.seq)).to.deep.equal(Array.from({ length: 100 }, (_, index) => 4 + index));
    expect(ledger.tried.length - before, '63 allocations and the head fill a transaction').to.be.at.most(3);
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(await logOf(memory)));
  });

  it('writes the schema version that all replicas can read, which may change at any time', async () => {
    let version: EventVersion = 1;
    await working.stop();
    working = await startWriter(ledger, { eventVersion: () => version });
    const versions = (): Promise<number[]> => logOf(memory).then((log) => log.slice(3).map(({ envelope: { v } }) => v));
    await carryOut(working.writer, allocate('a'), bind('a'), unbind('a'));
    expect(await versions()).to.deep.equal([1, 1, 1]);
    version = 2;
    await carryOut(working.writer, allocate('b'));
    expect(await versions()).to.deep.equal([1, 1, 1, 2]);
    const spec = { subnet: 'macvlan', ips: ['172.17.0.20'], namespaces: [] };
    const tooNew = await failureOf(submit({ type: 'ApplyPool', name: 'blue', spec }));
    expect(tooNew).to.have.property('code', 'UNAVAILABLE');
    expect(tooNew.message).to.contain('reads events up to version 2, and this takes 3: upgrade it');
    version = 3;
    await carryOut(working.writer, { type: 'ApplyPool', name: 'blue', spec });
    expect(await versions()).to.deep.equal([1, 1, 1, 2, 3]);
    expect(describeState(working.replica.state)).to.deep.equal(describeFold(await logOf(memory)));
  });

  it('writes a limit for namespaces only when all replicas enforce it', async () => {
    let version: EventVersion = 4;
    await working.stop();
    working = await startWriter(ledger, { eventVersion: () => version });
    const plain = { cidrBlock: '10.9.0.0/24', gateway: '', excludeIps: [], provider: 'nine.default', protocol: '' };
    const apply = (spec: object = {}) => submit({ type: 'ApplySubnet', name: 'nine', spec: { ...plain, ...spec } });
    const tooNew = await failureOf(apply({ maxAddressesPerNamespace: 2 }));
    expect(tooNew.message).to.contain('reads events up to version 4, and this takes 5: upgrade it');
    await apply();
    version = 5;
    await apply({ maxAddressesPerNamespace: 2 });
    expect((await logOf(memory)).slice(3).map(({ envelope: { v } }) => v)).to.deep.equal([4, 5]);
  });

  it('answers nobody before the transaction is confirmed: neither the new, nor the repeated, nor the refused', async () => {
    await submit(allocate('held', { candidates: [['172.17.0.100']] }));
    const held = gate();
    ledger.faults.push(async (append) => {
      await held.opened;
      return append();
    });
    const answered: string[] = [];
    const note = (what: string) => (): void => void answered.push(what);
    const all = [
      submit(allocate('a')).then(note('new')),
      submit(allocate('held')).then(note('repeated')),
      failureOf(submit(allocate('b', { candidates: [['172.17.0.100']] }))).then(note('refused')),
      failureOf(submit({ ...macvlan, name: 'NO NAME' } as typeof macvlan)).then(note('refused without a record')),
      working.writer.submit({ answer: () => 1, actor: '', signal: never }).then(note('asked')),
      failureOf(
        working.writer.submit({
          ...ask(allocate('c')),
          command: () => {
            throw new Error('oh');
          },
        }),
      ).then(note('thrown')),
    ];
    await afterAWhile();
    expect(answered).to.deep.equal([]);
    held.open();
    await Promise.all(all);
    expect(answered).to.have.length(all.length);
  });

  it('answers nobody before it has looked at the head, where there is nothing to write', async () => {
    await submit(allocate('a'));
    const held = gate();
    ledger.readable = held.opened;
    const before = ledger.tried.length;
    let answered = 0;
    const all = [
      submit(allocate('a')).then(() => answered++),
      submit(release('nobody')).then(() => answered++),
      failureOf(submit({ type: 'RetireSubnet', name: 'macvlan' })).then(() => answered++),
    ];
    await afterAWhile();
    expect(answered).to.equal(0);
    held.open();
    await Promise.all(all);
    expect(ledger.tried.length).to.equal(before);
  });

  it('answers no question from a state that is behind', async () => {
    const other = await startWriter(memory);
    await carryOut(other.writer, allocate('a'));
    await other.stop();
    const { answer } = await working.writer.submit({ answer: (state) => state.pods.size, actor: '', signal: never });
    expect(answer).to.equal(1);
  });

  it('gives an address of the last transaction to nobody else in the next', async () => {
    const first = [submit(allocate('a', inSmall)), submit(allocate('b', inSmall))];
    await turn();
    const second = [submit(allocate('c', inSmall)), failureOf(submit(allocate('d', inSmall)))] as const;
    const given = (await Promise.all([...first, second[0]])).flatMap(({ answer }) => answer.addresses);
    expect(given.toSorted()).to.deep.equal(['10.0.0.2', '10.0.0.3', '10.0.0.4']);
    expect(await second[1]).to.have.property('code', 'SUBNET_FULL');
  });

  it('lets a command that throws fail alone, and undoes it', async () => {
    const bad = (more: Partial<Ask<unknown>>) => failureOf(working.writer.submit({ ...ask(allocate('bad')), ...more }));
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

  it('hands on what a question refuses', async () => {
    const answer = (): never => {
      throw new Refused('SUBNET_UNKNOWN', 'no subnet x is configured');
    };
    const error = await failureOf(working.writer.submit({ answer, actor: '', signal: never }));
    expect(error).to.deep.include({ code: 'SUBNET_UNKNOWN', message: 'no subnet x is configured' });
  });

  it('does not decide for a caller that is gone', async () => {
    const error = await failureOf(submit(allocate('a'), AbortSignal.abort()));
    expect(error).to.have.property('code', 'CANCELLED');
    expect(typesOf(await logOf(memory))).to.not.include('AddressAllocated');
  });

  it('refuses what no transaction can hold, and goes on', async () => {
    await working.stop();
    const narrow = new MemoryLedger({ ops: 6, bytes: 1 << 20 });
    working = await startWriter(narrow);
    await carryOut(working.writer, createLedger(), macvlan);
    const three = allocateAll('a', [{}, { ordinal: 1 }, { ordinal: 2 }]);
    expect(await failureOf(submit(three))).to.deep.include({
      code: 'INVALID_REQUEST',
      message: 'the request does not fit one transaction: ask for fewer attachments',
    });
    await submit(allocate('b'));
  });

  it('gives and takes nothing while the ledger is frozen; what an operator brings back goes on', async () => {
    await submit(allocate('a'));
    await memory.freeze({ epoch: 1, seq: 99, hash: 'h', by: 'somebody', at: '' }, await memory.head(never), never);
    const imported = { ...allocate('c', { candidates: [['172.17.0.77']] }), import: true } as const;
    const [again, given, taken, brought] = await Promise.allSettled(
      [allocate('a'), allocate('b'), release('a'), imported].map((each) => submit(each)),
    );
    for (const refused of [given, taken])
      expect(refused).to.have.property('reason').that.has.property('code', 'LEDGER_FROZEN');
    expect(again).to.have.property('status', 'fulfilled');
    expect(brought).to.have.nested.property('value.answer.addresses[0]', '172.17.0.77');
    await memory.thaw(never);
    expect((await submit(allocate('b'))).answer.events).to.equal(1);
  });

  it('never stamps an event earlier than the one before, though the clock is set back between two commands', async () => {
    const times = [5_000, 5_000, 9_000, 2_000, 2_001];
    const clock = new LedgerClock({ wall: () => times.shift() ?? 2_002, monotonic: () => 0 });
    const other = new MemoryLedger();
    const { writer, stop } = await startWriter(other, { replica: await Replica.load(other, never, clock) });
    await Promise.all([createLedger(), macvlan, small, allocate('a')].map((command) => writer.submit(ask(command))));
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

  describe('records a refusal', () => {
    const taken = { candidates: [['172.17.0.100']] };
    const refusals = async (): Promise<string[]> =>
      (await logOf(memory)).flatMap(({ envelope: { type, data } }) =>
        type === 'AllocationRefused' && 'attachment' in data && 'reason' in data ? [`${data.uid} ${data.reason}`] : [],
      );
    beforeEach(async () => void (await submit(allocate('holder', taken))));

    it('once for each Pod uid and reason, however often it is asked', async () => {
      const many = Array.from({ length: 5 }, () => failureOf(submit(allocate('a', taken))));
      for (const error of await Promise.all(many)) expect(error).to.have.property('code', 'ADDRESS_IN_USE');
      await failureOf(submit(allocate('a', taken)));
      await failureOf(submit(allocate('a', { subnets: ['nowhere'] })));
      await failureOf(submit(allocate('b', taken)));
      expect(await refusals()).to.deep.equal(['uid-a ADDRESS_IN_USE', 'uid-a SUBNET_UNKNOWN', 'uid-b ADDRESS_IN_USE']);
    });

    it('not again when another writer did', async () => {
      const other = await startWriter(memory);
      await failureOf(other.writer.submit(ask(allocate('a', taken))));
      await other.stop();
      await failureOf(submit(allocate('a', taken)));
      expect(await refusals()).to.deep.equal(['uid-a ADDRESS_IN_USE']);
    });

    it('not when it is larger than a transaction, and refuses all the same', async () => {
      await working.stop();
      const narrow = new MemoryLedger({ ops: 128, bytes: 3_000 });
      working = await startWriter(narrow);
      await carryOut(working.writer, createLedger(), macvlan);
      const subnets = Array.from({ length: 24 }, (_, index) => `s${index}`.padEnd(250, 'x'));
      expect(await failureOf(submit(allocate('a', { subnets })))).to.have.property('code', 'SUBNET_UNKNOWN');
      expect(typesOf(await logOf(narrow))).to.not.include('AllocationRefused');
    });
  });
});

import { expect } from 'chai';
import { decide } from '../../domain/decide/decide.ts';
import { describeState } from '../../domain/testing/describe-state.ts';
import type { Event } from '../../domain/events/event.ts';
import { allocate, allocateAll, allocated, subnetConfigured } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { BatchBuilder, type CommandStamp } from './batch.ts';
import { advanceHead, type Head, parseEvent } from '../chain/chain.ts';
import { appendTransaction, etcdLimits } from '../store/etcd-transaction.ts';
import type { AppendLimits, Batch } from '../store/ledger.ts';
import { encodeTransaction } from '../store/txn-encoding.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { Replica } from '../reader/replica.ts';
import { applySubnet, bind, createLedger, macvlan, never, newId, release, unbind } from '../testing/running-writer.ts';

const now = Date.parse('2026-01-31T08:00:00.000Z');
const stamp = (more: Partial<CommandStamp> = {}): CommandStamp => ({
  command: newId(),
  newId,
  reading: { at: now, clock: now },
  actor: 'anonymous',
  ...more,
});

/** Decides a command against the current state, and adds its events. */
function add(builder: BatchBuilder, replica: Replica, untimed: Untimed): boolean {
  const decision = decide(replica.state, { ...untimed, now });
  if (decision.kind === 'refused') throw new Error(decision.refusal.message);
  return builder.add(decision.events, stamp()) !== undefined;
}

async function empty(
  limits?: AppendLimits,
): Promise<{ ledger: MemoryLedger; replica: Replica; builder: BatchBuilder }> {
  const ledger = new MemoryLedger(limits);
  const replica = await Replica.load(ledger, never);
  return { ledger, replica, builder: new BatchBuilder(replica) };
}

const putsOf = ({ events, claims, subnets }: Batch): number => events.length + claims.length + subnets.length + 1;
const sizeOf = ({ head, events, claims, subnets }: Batch): number =>
  JSON.stringify(head).length +
  [...events, ...claims, ...subnets].reduce((sum, { text = '' }) => sum + Buffer.byteLength(text), 0);

describe('BatchBuilder', () => {
  it('BatchBuilder chains its events after the head of the replica, and advances the head', async () => {
    const { replica, builder } = await empty();
    for (const command of [createLedger(), macvlan, allocate('a'), allocate('b')]) add(builder, replica, command);
    const batch = builder.build(7n);
    expect(batch.writer).to.equal(7n);
    expect(batch.head.before).to.deep.equal(replica.head);
    let head: Head = batch.head.before;
    for (const { seq, text } of batch.events) {
      const event = parseEvent(text);
      expect(event.envelope.seq).to.equal(seq);
      head = advanceHead(head, event);
    }
    expect(head).to.deep.equal(batch.head.after);
    expect(builder.head).to.deep.equal(head);
  });

  it('BatchBuilder numbers the events of one command', async () => {
    const { replica, builder } = await empty();
    add(builder, replica, macvlan);
    add(builder, replica, allocateAll('a', [{}, { ordinal: 1 }, { ordinal: 2 }]));
    const envelopes = builder.events.map(({ envelope }) => envelope);
    expect(envelopes.map(({ part }) => part)).to.deep.equal([
      [1, 1],
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
    expect(new Set(envelopes.map(({ cmd }) => cmd)).size).to.equal(2);
    expect(new Set(envelopes.map(({ id }) => id)).size).to.equal(4);
  });

  it('BatchBuilder writes each claim once, in its last state, with the known revision of its key', async () => {
    const { ledger, replica, builder } = await empty();
    for (const command of [createLedger(), macvlan, allocate('a')]) add(builder, replica, command);
    const outcome = await ledger.append(builder.build(undefined));
    if (outcome.kind !== 'appended') throw new Error(outcome.kind);
    replica.commit(builder.events, builder.head, outcome.revision);

    const next = new BatchBuilder(replica);
    for (const command of [bind('a'), allocate('b'), bind('b'), release('a'), unbind('a')]) add(next, replica, command);
    const { claims } = next.build(undefined);
    expect(claims.map(({ name, knownRevision }) => [name.address, knownRevision])).to.deep.equal([
      ['172.17.0.11', outcome.revision],
      ['172.17.0.12', 0n],
    ]);
    const [first, second] = claims.map(({ text = '' }) => JSON.parse(text) as object);
    expect(first).to.include({ last: 8 }).and.to.not.have.property('holder');
    expect(first).to.have.deep.property('bindings', []);
    expect(second).to.include({ last: 6, alloc: 5 });
  });

  it('BatchBuilder records the previous event of each address, also within the batch', async () => {
    const { replica, builder } = await empty();
    for (const command of [macvlan, allocate('a'), bind('a'), release('a'), unbind('a'), allocate('b')])
      add(builder, replica, command);
    expect(builder.events.map(({ envelope }) => envelope.before)).to.deep.equal([
      {},
      { '172.17.0.11': 0 },
      { '172.17.0.11': 2 },
      { '172.17.0.11': 3 },
      { '172.17.0.11': 4 },
      { '172.17.0.12': 0 },
    ]);
  });

  it('BatchBuilder writes each Subnet once, in its last state', async () => {
    const { replica, builder } = await empty();
    add(builder, replica, macvlan);
    add(builder, replica, applySubnet('macvlan', { cidrBlock: '172.18.0.0/16' }));
    add(builder, replica, applySubnet('retired', { cidrBlock: '10.9.0.0/24' }));
    add(builder, replica, { type: 'RetireSubnet', name: 'retired' });
    const { subnets } = builder.build(undefined);
    expect(subnets.map(({ name }) => name)).to.deep.equal(['macvlan', 'retired']);
    expect(subnets[0]?.text).to.contain('172.18.0.0/16');
    expect(subnets[1]?.text).to.equal(undefined);
  });
});

describe('A full BatchBuilder', () => {
  it('A full BatchBuilder rejects a command above the limit of operations, and is unchanged', async () => {
    const { replica, builder } = await empty({ ops: 12, bytes: 1 << 20 });
    add(builder, replica, macvlan); // head, event, subnet: 3 puts
    for (const pod of ['a', 'b', 'c', 'd']) expect(add(builder, replica, allocate(pod))).to.be.true; // 2 each
    const state = describeState(replica.state);
    const batch = builder.build(undefined);
    expect(putsOf(batch)).to.equal(11);
    expect(add(builder, replica, allocate('e'))).to.be.false;
    expect(describeState(replica.state)).to.deep.equal(state);
    expect(builder.build(undefined)).to.deep.equal(batch);
    // A command with fewer operations still fits: an event on a claim that is written anyway.
    expect(add(builder, replica, bind('a'))).to.be.true;
    expect(putsOf(builder.build(undefined))).to.equal(12);
  });

  it('SP-412 never splits a command', async () => {
    const { replica, builder } = await empty({ ops: 12, bytes: 1 << 20 });
    add(builder, replica, macvlan);
    for (const pod of ['a', 'b', 'c']) add(builder, replica, allocate(pod));
    expect(add(builder, replica, allocateAll('d', [{}, { ordinal: 1 }]))).to.be.false;
    expect(builder.events).to.have.length(4);
    expect(add(builder, replica, allocate('d'))).to.be.true;
  });

  it('A full BatchBuilder counts the bytes of all values', async () => {
    const limits = { ops: 10_000, bytes: 20_000 };
    const { replica, builder } = await empty(limits);
    add(builder, replica, macvlan);
    const routes = Array.from({ length: 10 }, () => ({ dst: '192.168.0.0/24', gw: '172.17.0.254' }));
    let count = 0;
    while (count < 1_000 && add(builder, replica, allocate(`pod-ü-${count}`, { routes }))) count++;
    const size = sizeOf(builder.build(undefined));
    expect(size).to.be.at.most(limits.bytes);
    expect(size + (2 * size) / count, 'one more would not have fitted').to.be.above(limits.bytes);
  });

  it('A full BatchBuilder counts the two heads of a transaction, the compared and the written one', async () => {
    const { builder, replica } = await empty();
    add(builder, replica, macvlan);
    const size = encodeTransaction(appendTransaction(builder.build(undefined))).length;
    const small = await empty({ ops: 128, bytes: size });
    expect(add(small.builder, small.replica, macvlan)).to.be.false;
  });

  it('A full BatchBuilder counts the keys of ended Pods', async () => {
    const released = async (limits: AppendLimits): Promise<Batch | undefined> => {
      const { builder, replica } = await empty(limits);
      for (const command of [macvlan, allocate('a')]) add(builder, replica, command);
      return add(builder, replica, release('a')) ? builder.build(undefined) : undefined;
    };
    const batch = (await released({ ops: 7, bytes: 1 << 20 })) as Batch;
    expect(putsOf(batch) + batch.ended.length).to.equal(7);
    expect(await released({ ops: 6, bytes: 1 << 20 })).to.equal(undefined);
    const size = encodeTransaction(appendTransaction(batch)).length;
    // Such a key counts as full from its first Pod on
    expect(await released({ ops: 7, bytes: size + 1_000 })).to.equal(undefined);
    expect(await released({ ops: 7, bytes: size + 4_000 })).to.deep.include({ subnets: batch.subnets });
  });

  it('A full BatchBuilder counts the conditions of a transaction, which an event with many addresses has more of than writes', async () => {
    const drop = (count: number): Event => {
      const addresses = Array.from({ length: count }, (_, index) => `172.17.0.${11 + index}`);
      return { type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses, previous: [] } };
    };
    const { ledger, replica, builder } = await empty({ ops: 128, bytes: 1 << 20 });
    add(builder, replica, macvlan);
    for (let count = 0; count < 9; count++) add(builder, replica, allocate(`pod-${count}`));
    const outcome = await ledger.append(builder.build(undefined));
    if (outcome.kind !== 'appended') throw new Error(outcome.kind);
    replica.commit(builder.events, builder.head, outcome.revision);
    const limited = new BatchBuilder(Object.assign(replica, { ledger: { limits: { ops: 12, bytes: 1 << 20 } } }));
    expect(limited.add([drop(9)], stamp())).to.equal(undefined);
    expect(limited.add([drop(8)], stamp())).to.not.equal(undefined);
    expect(appendTransaction(limited.build(1n)).compares).to.have.length(12);
  });

  it('A full BatchBuilder is within the default limits of etcd: 128 operations and 1.5 MiB', async () => {
    const of = { operations: 128, bytes: 1.5 * 2 ** 20 };
    const many = await empty(etcdLimits);
    add(many.builder, many.replica, macvlan);
    for (let count = 0; count < 1_000 && add(many.builder, many.replica, allocate(`pod-${count}`)); count++);
    const { compares, puts, reads } = appendTransaction(many.builder.build(1n));
    for (const each of [compares, puts, reads]) expect(each.length).to.be.within(60, of.operations);
    const large = await empty(etcdLimits);
    const wide = (name: string): Event =>
      subnetConfigured(name, { excludeIps: Array.from({ length: 1_000 }, (_, index) => `172.17.1.${index}`) });
    for (let count = 0; count < 1_000 && large.builder.add([wide(`subnet-${count}`)], stamp()); count++);
    const transaction = encodeTransaction(appendTransaction(large.builder.build(1n)));
    expect(transaction.length).to.be.within(of.bytes / 2, of.bytes);
  });

  it('A full BatchBuilder counts the configuration keys besides the event', async () => {
    const { replica, builder } = await empty({ ops: 128, bytes: 20_000 });
    const wide = (name: string): Event =>
      subnetConfigured(name, { excludeIps: Array.from({ length: 200 }, (_, index) => `172.17.1.${index}`) });
    for (let count = 0; count < 1_000 && builder.add([wide(`subnet-${count}`)], stamp()); count++);
    expect(builder.events.length).to.be.above(1);
    expect(sizeOf(builder.build(undefined))).to.be.at.most(20_000);
    builder.rollBack();
    expect(replica.state.subnets.size).to.equal(0);
  });

  it('A full BatchBuilder counts the two changes of keys by which a drop of history moves its start', async () => {
    const { ledger, replica, builder } = await empty({ ops: 12, bytes: 1 << 20 });
    const segment = { from: 1, to: 2, since: '', until: '', hash: 'h', manifest: '', archive: '' };
    for (const command of [createLedger(), macvlan]) add(builder, replica, command);
    builder.add([{ type: 'SegmentSealed', subnet: '', data: segment }], stamp());
    const outcome = await ledger.append(builder.build(undefined));
    if (outcome.kind !== 'appended') throw new Error(outcome.kind);
    replica.commit(builder.events, builder.head, outcome.revision);

    const next = new BatchBuilder(replica);
    add(next, replica, { type: 'DropHistory', to: 2, reason: 'full' }); // head, event and 2: 4 puts
    for (const pod of ['a', 'b', 'c', 'd']) expect(add(next, replica, allocate(pod))).to.be.true; // 2 each
    expect(add(next, replica, allocate('e'))).to.be.false;
  });

  it('A full BatchBuilder rejects an event that is too large for a page, and is unchanged', async () => {
    const { replica, builder } = await empty();
    add(builder, replica, createLedger());
    const before = { head: builder.head, state: describeState(replica.state) };
    const excludeIps = Array.from({ length: 2_000 }, (_, index) => `10.0.${index >> 7}.${2 * (index % 128)}`);
    const wide = applySubnet('wide', { cidrBlock: '10.0.0.0/8', gateway: '', excludeIps, provider: 'wide.default' });
    expect(() => add(builder, replica, wide)).to.throw('the event SubnetConfigured would have');
    expect({ head: builder.head, state: describeState(replica.state) }).to.deep.equal(before);
  });

  it('A full BatchBuilder rejects an event that evolve cannot apply, and is unchanged', async () => {
    const { replica, builder } = await empty();
    add(builder, replica, macvlan);
    const state = describeState(replica.state);
    const batch = builder.build(undefined);
    const unknown = { type: 'AddressTeleported', subnet: 'macvlan', data: { addresses: [] } } as unknown as Event;
    expect(() => builder.add([allocated('a', '172.17.0.11'), unknown], stamp())).to.throw();
    expect(describeState(replica.state)).to.deep.equal(state);
    expect(builder.build(undefined)).to.deep.equal(batch);
  });
});

describe('BatchBuilder.rollBack', () => {
  it('BatchBuilder.rollBack restores the state, for the last command or for the complete batch', async () => {
    const { replica, builder } = await empty();
    const nothing = describeState(replica.state);
    add(builder, replica, macvlan);
    const configured = describeState(replica.state);
    const undo = builder.add([allocated('a', '172.17.0.11')], stamp());
    undo?.();
    expect(describeState(replica.state)).to.deep.equal(configured);
    expect(builder.events).to.have.length(1);
    add(builder, replica, allocate('b'));
    builder.rollBack();
    expect(describeState(replica.state)).to.deep.equal(nothing);
  });
});

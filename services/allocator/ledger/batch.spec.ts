import { expect } from 'chai';
import { decide } from '../domain/decide.ts';
import { describeState } from '../domain/describe.ts';
import type { Event } from '../domain/event.ts';
import { allocate, allocateAll, allocated, subnetConfigured, type Untimed } from '../domain/specification.ts';
import { BatchBuilder, type CommandStamp } from './batch.ts';
import { follow, type Head, parseEvent } from './chain.ts';
import type { AppendLimits, Batch } from './ledger.ts';
import { MemoryLedger } from './memory.ts';
import { Replica } from './replica.ts';
import { applySubnet, bind, createLedger, macvlan, never, newId, release, unbind } from './specification.ts';

const now = Date.parse('2026-01-31T08:00:00.000Z');
const stamp = (more: Partial<CommandStamp> = {}): CommandStamp => ({
  command: newId(),
  newId,
  reading: { at: now, clock: now },
  actor: 'anonymous',
  ...more,
});

/** Decides a command against the state as it is by now, and adds what it comes to. */
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

describe('A batch', () => {
  it('chains its events behind the replica’s head, and leads to the head behind them', async () => {
    const { replica, builder } = await empty();
    for (const command of [createLedger(), macvlan, allocate('a'), allocate('b')]) add(builder, replica, command);
    const batch = builder.build(7n);
    expect(batch.writer).to.equal(7n);
    expect(batch.head.before).to.deep.equal(replica.head);
    let head: Head = batch.head.before;
    for (const { seq, text } of batch.events) {
      const event = parseEvent(text);
      expect(event.envelope.seq).to.equal(seq);
      head = follow(head, event);
    }
    expect(head).to.deep.equal(batch.head.after);
    expect(builder.head).to.deep.equal(head);
  });

  it('marks the events of a command as one, i of n', async () => {
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

  it('writes each claim once, as it is in the end, compared with what was known before', async () => {
    const { ledger, replica, builder } = await empty();
    for (const command of [createLedger(), macvlan, allocate('a')]) add(builder, replica, command);
    const outcome = await ledger.append(builder.build(undefined));
    if (outcome.kind !== 'appended') throw new Error(outcome.kind);
    replica.commit(builder.events, builder.head, outcome.revision);

    const next = new BatchBuilder(replica);
    for (const command of [bind('a'), allocate('b'), bind('b'), release('a'), unbind('a')]) add(next, replica, command);
    const { claims } = next.build(undefined);
    expect(claims.map(({ name, known }) => [name.address, known])).to.deep.equal([
      ['172.17.0.11', outcome.revision],
      ['172.17.0.12', 0n],
    ]);
    const [first, second] = claims.map(({ text = '' }) => JSON.parse(text) as object);
    expect(first).to.include({ last: 8 }).and.to.not.have.property('holder');
    expect(first).to.have.deep.property('bindings', []);
    expect(second).to.include({ last: 6, alloc: 5 });
  });

  it('names the event before, of each address, also inside itself', async () => {
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

  it('writes each subnet once, as it is in the end', async () => {
    const { replica, builder } = await empty();
    add(builder, replica, macvlan);
    add(builder, replica, applySubnet('macvlan', { cidrBlock: '172.18.0.0/16' }));
    add(builder, replica, applySubnet('gone', { cidrBlock: '10.9.0.0/24' }));
    add(builder, replica, { type: 'RetireSubnet', name: 'gone' });
    const { subnets } = builder.build(undefined);
    expect(subnets.map(({ name }) => name)).to.deep.equal(['macvlan', 'gone']);
    expect(subnets[0]?.text).to.contain('172.18.0.0/16');
    expect(subnets[1]?.text).to.equal(undefined);
  });
});

describe('A batch that is full', () => {
  it('by operations takes no further command, and is as before it', async () => {
    const { replica, builder } = await empty({ ops: 12, bytes: 1 << 20 });
    add(builder, replica, macvlan); // head, event, subnet: 3 puts
    for (const pod of ['a', 'b', 'c', 'd']) expect(add(builder, replica, allocate(pod))).to.be.true; // 2 each
    const state = describeState(replica.state);
    const batch = builder.build(undefined);
    expect(putsOf(batch)).to.equal(11);
    expect(add(builder, replica, allocate('e'))).to.be.false;
    expect(describeState(replica.state)).to.deep.equal(state);
    expect(builder.build(undefined)).to.deep.equal(batch);
    // What is smaller, as one more event on a claim that is written anyway, still fits.
    expect(add(builder, replica, bind('a'))).to.be.true;
    expect(putsOf(builder.build(undefined))).to.equal(12);
  });

  it('never cuts a command', async () => {
    const { replica, builder } = await empty({ ops: 12, bytes: 1 << 20 });
    add(builder, replica, macvlan);
    for (const pod of ['a', 'b', 'c']) add(builder, replica, allocate(pod));
    expect(add(builder, replica, allocateAll('d', [{}, { ordinal: 1 }]))).to.be.false;
    expect(builder.events).to.have.length(4);
    expect(add(builder, replica, allocate('d'))).to.be.true;
  });

  it('by bytes holds no more than is allowed, all values counted', async () => {
    const limits = { ops: 10_000, bytes: 20_000 };
    const { replica, builder } = await empty(limits);
    add(builder, replica, macvlan);
    const routes = Array.from({ length: 10 }, () => ({ dst: '192.168.0.0/24', gw: '172.17.0.254' }));
    let count = 0;
    while (add(builder, replica, allocate(`pod-ü-${count}`, { routes }))) count++;
    const size = sizeOf(builder.build(undefined));
    expect(size).to.be.at.most(limits.bytes);
    expect(size + (2 * size) / count, 'one more would not have fitted').to.be.above(limits.bytes);
  });

  it('counts the configuration that it writes beside the event', async () => {
    const { replica, builder } = await empty({ ops: 128, bytes: 20_000 });
    const wide = (name: string): Event =>
      subnetConfigured(name, { excludeIps: Array.from({ length: 200 }, (_, index) => `172.17.1.${index}`) });
    for (let count = 0; builder.add([wide(`subnet-${count}`)], stamp()); count++);
    expect(builder.events.length).to.be.above(1);
    expect(sizeOf(builder.build(undefined))).to.be.at.most(20_000);
    builder.rollBack();
    expect(replica.state.subnets.size).to.equal(0);
  });

  it('turns down an event that is too large to be read in pages, and is as before it', async () => {
    const { replica, builder } = await empty();
    add(builder, replica, createLedger());
    const before = { head: builder.head, state: describeState(replica.state) };
    const excludeIps = Array.from({ length: 2_000 }, (_, index) => `10.0.${index >> 7}.${2 * (index % 128)}`);
    const wide = applySubnet('wide', { cidrBlock: '10.0.0.0/8', gateway: '', excludeIps, provider: 'wide.default' });
    expect(() => add(builder, replica, wide)).to.throw('SubnetConfigured would be an event of');
    expect({ head: builder.head, state: describeState(replica.state) }).to.deep.equal(before);
  });

  it('turns down what evolve cannot apply, and is as before it', async () => {
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

describe('A batch that is taken back', () => {
  it('leaves the state as it was, as a whole or by the last command', async () => {
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

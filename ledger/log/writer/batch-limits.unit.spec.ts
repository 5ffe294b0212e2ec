import { expect } from 'chai';
import { decide } from '../../domain/decide/decide.ts';
import type { Event } from '../../domain/events/event.ts';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { describeState } from '../../domain/testing/describe-state.ts';
import type { EventVersion } from '../../domain/events/schema-version.ts';
import { emptyHead, maxHeadBytes } from '../chain/chain.ts';
import { firstVersionOfEvent } from '../chain/upcast.ts';
import { Replica } from '../reader/replica.ts';
import { appendTransaction } from '../store/etcd-transaction.ts';
import type { AppendLimits, Batch } from '../store/ledger.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { applySubnet, bind, createLedger, macvlan, never, newId, small, unbind } from '../testing/running-writer.ts';
import { BatchBuilder, type CommandStamp } from './batch.ts';

const now = Date.parse('2026-01-31T08:00:00.000Z');
const large: AppendLimits = { ops: 1_000, bytes: 1 << 20 };
const stamp = (more: Partial<CommandStamp> = {}): CommandStamp => {
  return { command: newId(), newId, reading: { at: now, clock: now }, actor: 'anonymous', ...more };
};
const dropOf = (...addresses: string[]): Event => {
  return { type: 'ClaimsDropped', subnet: 'macvlan', data: { addresses, previous: [] } };
};
const sealed: Event = {
  type: 'SegmentSealed',
  subnet: '',
  data: { from: 1, to: 2, since: '', until: '', hash: 'h', manifest: '', archive: '' },
};
const pool: Untimed = {
  type: 'ApplyPool',
  name: 'few',
  spec: { subnet: 'macvlan', ips: ['172.17.1.0..172.17.1.9'], namespaces: [] },
};

describe('The limits of a batch', () => {
  let replica: Replica;
  let ledger: MemoryLedger;
  beforeEach(async () => {
    ledger = new MemoryLedger();
    replica = await Replica.load(ledger, never);
    const { builder } = build([createLedger(), macvlan], large);
    const outcome = await ledger.append(builder.build(undefined));
    if (outcome.kind !== 'appended') throw new Error(outcome.kind);
    replica.commit(builder.events, builder.head, outcome.revision);
  });

  const eventsOf = (change: Untimed | Event): readonly Event[] => {
    if ('data' in change) return [change];
    const decision = decide(replica.state, { ...change, now });
    if (decision.kind === 'refused') throw new Error(decision.refusal.message);
    return decision.events;
  };

  /** Builds a batch with these limits. `isComplete`: whether all commands and events fit. */
  function build(changes: readonly (Untimed | Event)[], limits: AppendLimits) {
    Object.assign(replica, { ledger: { limits } });
    const builder = new BatchBuilder(replica);
    const isComplete = changes.every((change) => builder.add(eventsOf(change), stamp()) !== undefined);
    return { builder, isComplete };
  }

  /** The batch of these changes, which is not appended. */
  function batchOf(changes: readonly (Untimed | Event)[]): Batch {
    const { builder } = build(changes, large);
    const batch = builder.build(1n);
    builder.rollBack();
    return batch;
  }

  const fits = (changes: readonly (Untimed | Event)[], limits: Partial<AppendLimits>): boolean => {
    const { builder, isComplete } = build(changes, { ...large, ...limits });
    builder.rollBack();
    return isComplete;
  };

  for (const [what, changes] of Object.entries<readonly (Untimed | Event)[]>({
    'events of many addresses': ['a', 'b', 'c', 'd'].map((pod) => allocate(pod)),
    'many events of one address': [allocate('a'), bind('a'), unbind('a'), bind('a'), unbind('a'), bind('a')],
    'one event of one address': [allocate('a')],
    'Subnets and a pool': [small, pool, applySubnet('other', { cidrBlock: '10.1.0.0/16' })],
    'a pool and dropped claims': [pool, allocate('a'), dropOf('172.17.0.12'), bind('a'), unbind('a'), bind('a')],
    'a sealed segment': [sealed],
    'a sealed segment beside other keys': [sealed, small, pool, dropOf('172.17.0.12')],
  }))
    it(`The limits of a batch count each write and each condition of ${what}`, () => {
      const { puts, compares } = appendTransaction(batchOf(changes));
      const ops = Math.max(puts.length, compares.length);
      expect([fits(changes, { ops: ops - 1 }), fits(changes, { ops })]).to.deep.equal([false, true]);
    });

  /**
   * The bytes of the events, the claims and their keys, and of two heads of the greatest length.
   */
  function bytesOf(changes: readonly (Untimed | Event)[]): number {
    const { puts, compares } = appendTransaction(batchOf(changes));
    const isCounted = ({ key }: { readonly key: string }): boolean => /\/(log|addr)\/./.test(key);
    const written = puts.filter(isCounted).map(({ key, value = '' }) => key.length + Buffer.byteLength(value));
    const compared = compares.filter(({ key, rangeEnd }) => isCounted({ key }) && rangeEnd === undefined);
    const sizes = [...written, ...compared.map(({ key }) => key.length)];
    return sizes.reduce((sum, size) => sum + size, 2 * maxHeadBytes);
  }

  it('The limits of a batch count each byte of its events, claims and keys', () => {
    const changes = ['a', 'pod-ü', 'c'].map((pod) => allocate(pod));
    const bytes = bytesOf(changes);
    expect([fits(changes, { bytes: bytes - 1 }), fits(changes, { bytes })]).to.deep.equal([false, true]);
  });

  it('The limits of a batch count a command that did not fit for nothing', () => {
    const [first, second] = [allocate('a'), allocate('b')];
    const excludeIps = Array.from({ length: 100 }, (_, index) => `10.1.1.${2 * index}`);
    const wide = applySubnet('other', { cidrBlock: '10.1.0.0/16', excludeIps });
    const bytes = bytesOf([first, second]);
    const { builder } = build([first, wide], { ...large, bytes });
    const [state, before] = [describeState(replica.state), builder.build(1n)];
    expect(before.subnets).to.deep.equal([]);
    expect(builder.add(eventsOf(wide), stamp())).to.equal(undefined);
    expect([describeState(replica.state), builder.build(1n)]).to.deep.equal([state, before]);
    expect(builder.add(eventsOf(second), stamp())).to.not.equal(undefined);
  });

  it('The limits of a batch allow an event of 16 KiB, and no larger one', () => {
    const event: Event = { type: 'LedgerCreated', subnet: '', data: { ledger: newId() } };
    const { builder } = build([], large);
    const add = (actorLength: number): number => {
      builder.add([event], stamp({ actor: 'x'.repeat(actorLength) }));
      return builder.events.at(-1)?.text.length ?? 0;
    };
    const others = add(0);
    expect(add(16_384 - others)).to.equal(16_384);
    expect(() => add(16_385 - others)).to.throw('would have 16385 bytes, and at most 16384 are allowed');
  });
});

describe('The events of a batch', () => {
  const builderOf = async (inFlight?: BatchBuilder): Promise<BatchBuilder> =>
    new BatchBuilder(await Replica.load(new MemoryLedger(), never), inFlight);
  const created: Event = { type: 'LedgerCreated', subnet: '', data: { ledger: newId() } };

  it('The events of a batch require a ledger that is not frozen only if one of their commands does', async () => {
    const builder = await builderOf();
    builder.add([], stamp());
    builder.add([created], stamp({ isAllowedWhileFrozen: true }));
    expect(builder.build(undefined).requiresUnfrozen).to.equal(false);
    builder.add([dropOf()], stamp());
    builder.add([dropOf()], stamp({ isAllowedWhileFrozen: true }));
    expect(builder.build(undefined).requiresUnfrozen).to.equal(true);
  });

  it('The events of a batch are uncommitted, and so are those of the batch in flight', async () => {
    const inFlight = await builderOf();
    for (const event of [created, dropOf()]) inFlight.add([event], stamp());
    const builder = await builderOf(inFlight);
    for (const event of [sealed, dropOf('172.17.0.11')]) builder.add([event], stamp());
    const hasType = (type: string): boolean => builder.hasUncommitted(({ envelope }) => envelope.type === type);
    expect(['LedgerCreated', 'SegmentSealed', 'AddressBound'].map(hasType)).to.deep.equal([true, true, false]);
    expect(builder.head.seq).to.equal(emptyHead.seq + 4);
    expect(
      (await builderOf()).hasUncommitted(() => true),
      'without events',
    ).to.equal(false);
  });

  it('The events of a batch have the version that all replicas read, or are refused if it has no such event', async () => {
    const builder = await builderOf();
    const needed = firstVersionOfEvent(dropOf());
    builder.add([created], stamp({ version: 2 }));
    builder.add([dropOf()], stamp({ version: needed }));
    builder.add([dropOf()], stamp());
    expect(builder.events.slice(0, 2).map(({ envelope }) => envelope.v)).to.deep.equal([2, needed]);
    const older = (needed - 1) as EventVersion;
    expect(() => builder.add([dropOf()], stamp({ version: older }))).to.throw(
      `ClaimsDropped needs event version ${needed}, but an allocator replica reads only versions up to ${older}`,
    );
    expect(builder.events).to.have.length(3);
  });
});

import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import { type EventVersion, eventVersions } from '../../domain/events/schema-version.ts';
import type { StoredEvent } from '../chain/chain.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { createLedger, macvlan, never, type RunningWriter, startWriter, submitAll } from '../testing/running-writer.ts';
import { UnreliableLedger } from '../testing/unreliable-ledger.ts';
import { Replica } from './replica.ts';

describe('A replica that follows the log', () => {
  let ledger: UnreliableLedger;
  let working: RunningWriter;
  let standby: Replica;
  beforeEach(async () => {
    const memory = new MemoryLedger();
    ledger = new UnreliableLedger(memory);
    working = await startWriter(memory);
    await submitAll(working.writer, createLedger(), macvlan);
    standby = await Replica.load(ledger, never);
  });
  afterEach(async () => void (await working.stop()));

  it('Replica keeps the last 4,000 events, and removes older ones 501 at a time', () => {
    const [event] = working.replica.recentFrom(working.replica.head.seq) ?? [];
    const { head } = standby;
    expect(standby.recentFrom(head.seq), 'from before it was loaded').to.equal(undefined);
    expect(standby.recentFrom(head.seq + 1), 'without events since').to.deep.equal([]);
    const commitUpTo = (last: number): void => {
      for (let seq = standby.head.seq + 1; seq <= head.seq + last; seq++) {
        const envelope = { ...(event as StoredEvent).envelope, seq };
        standby.commit([{ ...(event as StoredEvent), envelope }], { ...head, seq }, 1n);
      }
    };
    commitUpTo(4_500);
    expect(standby.recentFrom(head.seq + 1)).to.have.length(4_500);
    commitUpTo(4_501);
    expect(standby.recentFrom(head.seq + 501)).to.equal(undefined);
    expect(standby.recentFrom(head.seq + 502)).to.have.length(4_000);
  });

  it('Replica waits for an event until it is committed, and no longer', async () => {
    const { seq } = standby.head;
    let isReached = false;
    const reached = standby.untilReached(seq + 2, never).then(() => (isReached = true));
    for (const pod of ['a', 'b']) {
      await turn();
      expect(isReached).to.equal(false);
      await submitAll(working.writer, allocate(pod));
      await standby.catchUp(never);
    }
    await turn();
    expect([isReached, standby.head.seq]).to.deep.equal([true, seq + 2]);
    await reached;
  });

  it('Replica reads the log again only if the head has changed', async () => {
    let reads = 0;
    const { read } = ledger;
    ledger.read = (from, signal) => (reads++, read.call(ledger, from, signal));
    await standby.refresh(never);
    expect(reads).to.equal(0);
    await submitAll(working.writer, allocate('a'));
    await standby.refresh(never);
    expect(standby.head).to.deep.equal(working.replica.head);
  });

  it('Replica has the schema version of its last event', async () => {
    const [oldest, newest] = [eventVersions[0], eventVersions.at(-1)] as [EventVersion, EventVersion];
    const writing = await startWriter(new MemoryLedger(), { eventVersion: () => oldest });
    const first = writing.replica.ledger;
    expect((await Replica.load(first, never)).version, 'of an empty ledger').to.equal(oldest);
    await submitAll(writing.writer, createLedger());
    const following = await Replica.load(first, never);
    expect(following.version).to.equal(oldest);
    await writing.stop();
    const newer = await startWriter(first);
    await submitAll(newer.writer, macvlan);
    await newer.stop();
    await following.catchUp(never);
    following.commit([], following.head, 0n);
    expect([following.version, (await Replica.load(first, never)).version]).to.deep.equal([newest, newest]);
  });

  it('Replica serves a fenced address again after an event of that address, because its key was written', async () => {
    for (const address of ['172.17.0.11', '172.17.0.12']) standby.state.fenced.add(`macvlan/${address}`);
    for (const [pod, fenced] of [
      ['a', ['macvlan/172.17.0.12']],
      ['b', []],
    ] as const) {
      await submitAll(working.writer, allocate(pod));
      await standby.catchUp(never);
      expect([...standby.state.fenced]).to.deep.equal(fenced);
    }
  });
});

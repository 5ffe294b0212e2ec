import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { describeState } from '../../domain/testing/describe-state.ts';
import { restoreState } from '../../domain/state/snapshot.ts';
import { allocate, allocateAll } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Event } from '../../domain/events/event.ts';
import { addressesOf } from '../../domain/events/registry.ts';
import type { Segment } from '../../domain/values/ledger.ts';
import { emptyHead, type Head } from '../chain/chain.ts';
import { freezeKey, headKey, writerKey } from '../store/keys.ts';
import type { AppendOutcome, Batch } from '../store/ledger.ts';
import { droppedText, UnfinishedReplay } from '../store/stored-values.ts';
import { created } from '../testing/ledger-under-test.ts';
import { loadAll } from '../testing/load-all.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { UnreliableLedger } from '../testing/unreliable-ledger.ts';
import { replay } from './replay.ts';
import { Replica } from './replica.ts';
import {
  applySubnet,
  batchOf,
  bind,
  submitAll,
  createLedger,
  describeFold,
  failureOf,
  smallAttachment,
  logOf,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
} from '../testing/running-writer.ts';

/** A ledger with events of all kinds. */
async function original(...more: readonly Untimed[]): Promise<MemoryLedger> {
  const memory = new MemoryLedger();
  const { writer, stop } = await startWriter(memory);
  await submitAll(writer, createLedger(), macvlan, small);
  const pool: Untimed = {
    type: 'ApplyPool',
    name: 'few',
    spec: { subnet: 'macvlan', ips: ['172.17.1.0..172.17.1.9'], namespaces: [] },
  };
  await submitAll(writer, pool, allocate('a'), bind('a'), allocate('b', smallAttachment), release('a'), unbind('a'));
  await submitAll(writer, allocateAll('c', [{}, { ordinal: 1 }, { ordinal: 2 }]), release('b'));
  await submitAll(writer, { type: 'RetireSubnet', name: 'small' }, { type: 'RetirePool', name: 'few' });
  await submitAll(writer, applySubnet('other', { cidrBlock: '10.1.0.0/16' }), ...more);
  await stop();
  return memory;
}

async function* linesOf(ledger: MemoryLedger, to = Infinity): AsyncIterable<string> {
  for (const { envelope, text } of await logOf(ledger)) if (envelope.seq <= to) yield text;
}

/** A ledger that keeps what is appended to it. */
class RecordingLedger extends MemoryLedger {
  readonly batches: Batch[] = [];

  override append(batch: Batch): Promise<AppendOutcome> {
    this.batches.push(batch);
    return super.append(batch);
  }
}

const fewOps = { ops: 7, bytes: 1 << 20 };

describe('replay', () => {
  it('replay writes the same ledger again: every key, byte for byte', async () => {
    const from = await original();
    const to = new MemoryLedger();
    const head = await replay(to, linesOf(from), { signal: never });
    expect(head).to.deep.equal(await from.head(never));
    expect(to.everything()).to.deep.equal(from.everything());
    expect(describeState(restoreState(await loadAll(to, never)))).to.deep.equal(describeFold(await logOf(from)));
  });

  it('replay never splits a command, and respects the limits of a transaction', async () => {
    const pods = Array.from({ length: 30 }, (_, index) => allocateAll(`p${index}`, [{}, { ordinal: 1 }]));
    const from = await original(...pods);
    const to = new MemoryLedger(fewOps);
    const heads: number[] = [];
    await replay(to, linesOf(from), { signal: never, onProgress: ({ seq }) => heads.push(seq) });
    expect(heads.length).to.be.greaterThan(5);
    const ends = (await logOf(from)).filter(({ envelope: { part } }) => part[0] === part[1]);
    expect(heads.filter((seq) => !ends.some(({ envelope }) => envelope.seq === seq))).to.deep.equal([]);
    expect(to.everything()).to.deep.equal(from.everything());
  });

  it('replay rejects a ledger that is not empty, and leaves it unchanged', async () => {
    const from = await original();
    const to = await original();
    const before = to.everything();
    const refused = await failureOf(replay(to, linesOf(from), { signal: never }));
    expect(refused.code).to.equal('INVALID_REQUEST');
    expect(refused.message).to.match(/^this ledger is not empty: it has \d+ events/);
    expect(to.everything()).to.deep.equal(before);

    const claimAlone = new MemoryLedger();
    claimAlone.put('/ipledger/v1/addr/macvlan/172.17.0.11', from.get('/ipledger/v1/addr/macvlan/172.17.0.11') ?? '');
    expect((await failureOf(replay(claimAlone, linesOf(from), { signal: never }))).code).to.equal('INVALID_REQUEST');
  });

  describe('interrupted between any two transactions', () => {
    let from: MemoryLedger;
    let heads: Head[];
    beforeEach(async () => {
      from = await original();
      heads = [];
      await replay(new MemoryLedger(fewOps), linesOf(from), { signal: never, onProgress: (head) => heads.push(head) });
    });

    /** The ledgers that each interruption leaves. @param last the last event of the export */
    async function* interrupted(last = Infinity): AsyncGenerator<MemoryLedger> {
      for (let transactions = 1; transactions < heads.length; transactions++) {
        const to = new MemoryLedger(fewOps);
        let count = 0;
        const stop = new AbortController();
        const onProgress = (): void => void (++count === transactions && stop.abort());
        const stopped = replay(to, linesOf(from, last), { signal: stop.signal, onProgress });
        expect(await failureOf(stopped)).to.have.property('name', 'AbortError');
        yield to;
      }
    }

    it('an interruption can happen between events, and between claims', () => {
      const withEvents = heads.filter(({ seq }, index) => seq !== heads[index - 1]?.seq).length;
      expect(withEvents).to.be.above(3);
      expect(heads.length - withEvents).to.be.above(1);
      // The heads of the last phase count the written claims, and the last head has no mark
      const marks = heads.map(({ claims }) => claims);
      expect(marks.slice(0, withEvents)).to.deep.equal(Array<number>(withEvents).fill(0));
      const counted = marks.slice(withEvents, -1).map((_, index) => 3 * (index + 1));
      expect(marks.slice(withEvents)).to.deep.equal([...counted, undefined]);
    });

    it('an interrupted replay is continued to the same ledger, only with `resume`', async () => {
      for await (const to of interrupted()) {
        const refused = await failureOf(replay(to, linesOf(from), { signal: never }));
        expect(refused.message).to.match(/a replay that has not ended/);
        await replay(to, linesOf(from), { signal: never, resume: true });
        expect(to.everything()).to.deep.equal(from.everything());
      }
    });

    it('an interrupted replay can be continued with a later export', async () => {
      const { seq } = await from.head(never);
      const { writer, stop } = await startWriter(from);
      await submitAll(writer, release('c'), allocate('d'));
      await stop();
      for await (const to of interrupted(seq)) {
        await replay(to, linesOf(from), { signal: never, resume: true });
        expect(to.everything()).to.deep.equal(from.everything());
      }
    });

    it('an interrupted replay is continued after lost or late requests and replies', async () => {
      for (const fault of ['lostRequest', 'lostReply', 'late'] as const)
        for (let before = 0; before < heads.length; before++) {
          const memory = new MemoryLedger(fewOps);
          const to = new UnreliableLedger(memory);
          to.faults.push(...Array.from({ length: before }, () => (append: () => Promise<AppendOutcome>) => append()));
          to.faults.push(to[fault]);
          const failed = await failureOf(replay(to, linesOf(from), { signal: never }));
          expect(failed.message).to.match(/ may not be written: connection lost\. To continue, use --resume$/);
          const resume = (): Promise<Head> => replay(to, linesOf(from), { signal: never, resume: true });
          // A late request arrives before the first one of the continued replay.
          await resume().catch((error: unknown) =>
            expect(IpledgerError.from(error).message).to.match(/are not written: another program writes/),
          );
          await resume();
          expect(memory.everything()).to.deep.equal(from.everything());
        }
    });

    it('an interrupted replay rejects with the failure of its append, also if that comes before the next event', async () => {
      const unhandled: unknown[] = [];
      const onUnhandled = (error: unknown): void => void unhandled.push(error);
      process.on('unhandledRejection', onUnhandled);
      try {
        const to = new UnreliableLedger(new MemoryLedger(fewOps));
        to.faults.push(to.lostRequest);
        await failureOf(replay(to, linesOf(from), { signal: never }));
        await turn();
      } finally {
        process.off('unhandledRejection', onUnhandled);
      }
      expect(unhandled).to.deep.equal([]);
    });

    it('a replay stops replicas that were loaded before it, because they have other revisions of the claims', async () => {
      for await (const to of interrupted()) {
        const before = await Replica.load(new MemoryLedger(), never);
        const replica = Object.assign(before, { ledger: to });
        for (const reading of [replica.catchUp(never), replica.refresh(never)]) {
          const error = await failureOf(reading);
          expect(error.code).to.equal('LEDGER_DAMAGED');
          expect(error.message).to.contain('to load the ledger again at its next start');
        }
      }
    });

    it('an interrupted replay leaves a ledger that no other program loads or appends to', async () => {
      for await (const to of interrupted()) {
        const { head } = await to.load(never, 'any');
        const { claims, ...complete } = head;
        expect(claims).to.be.a('number');
        const refused = await failureOf(Replica.load(to, never));
        expect(refused).to.be.instanceOf(UnfinishedReplay).with.property('code', 'UNAVAILABLE');
        expect(await failureOf(to.head(never))).to.be.instanceOf(UnfinishedReplay);
        for (const before of [complete, emptyHead])
          expect(await to.append(batchOf(before, [created]))).to.deep.equal({ kind: 'moved' });
      }
    });
  });

  it('replay continues a complete ledger with later events, and deletes the claims that these drop', async () => {
    const from = await original();
    const head = await from.head(never);
    const last = head.seq;
    const { revisions } = await loadAll(from, never);
    const idle = revisions.find(({ subnet }) => subnet === 'small');
    if (!idle) throw new Error('the ledger has no claim of a retired Subnet');
    const { subnet, address, revision: knownRevision } = idle;
    const drop: Event = { type: 'ClaimsDropped', subnet, data: { addresses: [address], previous: [] } };
    const batch = batchOf(head, [drop], {
      claims: [{ name: { subnet, address }, text: undefined, knownRevision }],
      dropped: [{ name: subnet, text: droppedText([last + 1]) }],
    });
    expect(await from.append(batch)).to.have.property('kind', 'appended');
    const to = new MemoryLedger(fewOps);
    await replay(to, linesOf(from, last), { signal: never });
    await replay(to, linesOf(from), { signal: never, resume: true });
    expect(to.everything()).to.deep.equal(from.everything());
  });

  it('replay changes nothing when it is resumed after its end', async () => {
    const from = await original();
    const to = new MemoryLedger();
    await replay(to, linesOf(from), { signal: never });
    const revision = to.createdAt(headKey);
    const progress: Head[] = [];
    await replay(to, linesOf(from), { signal: never, resume: true, onProgress: (head) => progress.push(head) });
    expect(progress).to.deep.equal([]);
    expect(to.createdAt(headKey)).to.equal(revision);
  });

  it('replay resumes only on the beginning of the same ledger', async () => {
    const [from, other] = [await original(), await original()];
    const another = await failureOf(replay(other, linesOf(from), { signal: never, resume: true }));
    expect(another.message).to.match(/^this is another ledger/);
    const longer = new MemoryLedger();
    await replay(longer, linesOf(from), { signal: never });
    const shorter = await failureOf(replay(longer, linesOf(from, 5), { signal: never, resume: true }));
    expect(shorter.message).to.match(/already has \d+ events, but the log to replay has only 5: /);
  });

  it('replay stops when another program writes, and reports the last written event', async () => {
    const from = await original();
    const to = new MemoryLedger(fewOps);
    const intrude = (): void => void to.put(headKey, from.get(headKey) ?? '');
    const failed = await failureOf(replay(to, linesOf(from), { signal: never, onProgress: intrude }));
    expect(failed.code).to.equal('UNAVAILABLE');
    expect(failed.message).to.match(
      /^the events after \d+ are not written: another program writes to the ledger \(moved\)/,
    );
  });

  it('replay writes nothing while an allocator is the writer, or the ledger is frozen', async () => {
    const from = await original();
    for (const [key, reason] of [
      [writerKey, /an allocator is the writer of this ledger. Stop all allocators/],
      [freezeKey, /the ledger is frozen \(\/ipledger\/v1\/frozen in etcd\)/],
    ] as const) {
      const to = new MemoryLedger();
      to.put(key, 'present');
      expect((await failureOf(replay(to, linesOf(from), { signal: never }))).message).to.match(reason);
      expect(to.everything()).to.deep.equal({ [key]: 'present' });
    }
  });

  it('replay respects the limits of a transaction when many segments are sealed one after the other', async () => {
    const from = await original();
    const seals = Array.from({ length: 12 }, (_, index): Segment => {
      const [seq, event] = [index + 1, index + 1];
      const times = { since: '2026-01-31T08:00:00.000Z', until: '2026-01-31T08:00:00.000Z' };
      return { seq, from: event, to: event, ...times, hash: 'h', manifest: 'm', archive: 'a' };
    });
    for (const { seq: _, ...data } of seals) {
      const head = await from.head(never);
      const batch = batchOf(head, [{ type: 'SegmentSealed', subnet: '', data }]);
      expect(await from.append({ ...batch, segments: [{ seq: head.seq + 1, ...data }] })).to.include({
        kind: 'appended',
      });
    }
    const to = new MemoryLedger({ ...fewOps, ops: 12 });
    await replay(to, linesOf(from), { signal: never });
    expect(to.everything()).to.deep.equal(from.everything());
  });

  describe('a transaction of many keys', () => {
    const names = Array.from({ length: 40 }, (_, index) => `lan${index}`);
    const subnets = names.map((name, index) => applySubnet(name, { cidrBlock: `10.2.${index}.0/24` }));
    const pools = names.map((name, index): Untimed => {
      return { type: 'ApplyPool', name, spec: { subnet: name, ips: [`10.2.${index}.9`], namespaces: [] } };
    });
    const pods = names.map((name) => allocate(`p-${name}`, { provider: `${name}.default`, subnets: [name] }));
    const drops = names.map((subnet, index): Event => {
      return { type: 'ClaimsDropped', subnet, data: { addresses: [`10.2.${index}.1`], previous: [] } };
    });
    const nics = Array.from({ length: 16 }, (_, ordinal) => ({ ordinal }));

    for (const [title, commands] of [
      ['Subnets', subnets],
      ['pools', [...subnets, ...pools]],
      [
        'NICs of one Pod',
        [...Array.from({ length: 40 }, (_, index) => allocate(`a${index}`)), allocateAll('many', nics)],
      ],
    ] as const)
      it(`replay respects the limits of a transaction with many ${title}`, async () => {
        const from = await original(...commands);
        for (let ops = 40; ops < 46; ops++) {
          const to = new MemoryLedger({ ops, bytes: 1 << 20 });
          await replay(to, linesOf(from), { signal: never });
          expect(to.everything()).to.deep.equal(from.everything());
        }
      });

    it('replay respects the limits of a transaction that drops claims of many Subnets', async () => {
      const from = await original(...subnets, ...pods, ...names.map((name) => release(`p-${name}`)));
      const { revisions } = await loadAll(from, never);
      for (const drop of drops) {
        const head = await from.head(never);
        const [address = ''] = addressesOf(drop);
        const claim = revisions.find((each) => each.address === address);
        const name = { subnet: drop.subnet, address };
        const batch = batchOf(head, [drop], {
          claims: [{ name, text: undefined, knownRevision: claim?.revision ?? 0n }],
          dropped: [{ name: drop.subnet, text: droppedText([head.seq + 1]) }],
        });
        expect(await from.append(batch)).to.have.property('kind', 'appended');
      }
      for (let ops = 40; ops < 46; ops++) {
        const to = new MemoryLedger({ ops, bytes: 1 << 20 });
        await replay(to, linesOf(from), { signal: never });
        expect(to.everything()).to.deep.equal(from.everything());
      }
    });
  });

  describe('the keys of Pods that have ended', () => {
    /** 130 Pods, which take three keys of 64. */
    const ends = Array.from({ length: 130 }, (_, index) => [allocate(`p${index}`), release(`p${index}`)]).flat();
    const endedOf = (batches: readonly Batch[]): number[][] =>
      batches.map(({ ended }) => ended.map(({ index }) => index)).filter((indexes) => indexes.length > 0);

    it('replay writes the key of an ended Pod only in the transaction that ends the Pod', async () => {
      const from = await original(...ends);
      const to = new RecordingLedger({ ops: 16, bytes: 1 << 20 });
      await replay(to, linesOf(from), { signal: never });
      expect(to.everything()).to.deep.equal(from.everything());
      const written = endedOf(to.batches);
      expect(written.length).to.be.above(20);
      expect(written.filter((indexes) => indexes.length > 2)).to.deep.equal([]);
      expect(written.flat()).to.deep.equal(written.flat().toSorted((one, other) => one - other));
      expect(written.at(-1)).to.deep.equal([2]);
    });

    it('a continued replay does not write the keys of Pods again that had ended before', async () => {
      const from = await original(...ends);
      const { seq } = await from.head(never);
      const to = new RecordingLedger();
      await replay(to, linesOf(from, seq), { signal: never });
      const { writer, stop } = await startWriter(from);
      await submitAll(writer, allocate('late'), release('late'));
      await stop();
      to.batches.length = 0;
      await replay(to, linesOf(from), { signal: never, resume: true });
      expect(to.everything()).to.deep.equal(from.everything());
      expect(endedOf(to.batches)).to.deep.equal([[2]]);
    });
  });

  it('replay writes nothing if the lines are not a hash chain', async () => {
    const from = await original();
    const to = new MemoryLedger();
    async function* gap(): AsyncIterable<string> {
      for await (const line of linesOf(from)) if (!line.includes('"seq":5,')) yield line;
    }
    expect((await failureOf(replay(to, gap(), { signal: never }))).code).to.equal('LEDGER_DAMAGED');
    expect(to.everything()).to.deep.equal({});
  });

  it('replay rejects lines that end inside a command, and names no head for them', async () => {
    const from = await original();
    const first = (await logOf(from)).find(({ envelope: { part } }) => part[0] === 1 && part[1] === 3);
    const inside = (first?.envelope.seq ?? 0) + 1;
    const error = await failureOf(replay(new MemoryLedger(), linesOf(from, inside), { signal: never }));
    expect(error).to.include({ code: 'LEDGER_DAMAGED', message: 'the last command of the log is incomplete' });
  });
});

import { expect } from 'chai';
import { describeState } from '../../domain/testing/describe-state.ts';
import { restoreState } from '../../domain/state/snapshot.ts';
import { allocate, allocateAll } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import type { Event } from '../../domain/events/event.ts';
import { emptyHead, type Head } from '../chain/chain.ts';
import { headKey } from '../store/keys.ts';
import { droppedText, unfinishedReplay } from '../store/stored-values.ts';
import { created } from '../testing/ledger-under-test.ts';
import { loadAll } from '../testing/load-all.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
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

/** A ledger with all kinds of events. */
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

const fewOps = { ops: 7, bytes: 1 << 20 };

describe('replay', () => {
  it('writes the same ledger again: every key, byte for byte', async () => {
    const from = await original();
    const to = new MemoryLedger();
    const head = await replay(to, linesOf(from), { signal: never });
    expect(head).to.deep.equal(await from.head(never));
    expect(to.everything()).to.deep.equal(from.everything());
    expect(describeState(restoreState(await loadAll(to, never)))).to.deep.equal(describeFold(await logOf(from)));
  });

  it('never splits a command, and respects the limits of a transaction', async () => {
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

  it('rejects a ledger that is not empty, and leaves it unchanged', async () => {
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

    /** What each possible interruption leaves. */
    async function* interrupted(): AsyncGenerator<MemoryLedger> {
      for (let transactions = 1; transactions < heads.length; transactions++) {
        const to = new MemoryLedger(fewOps);
        let count = 0;
        const onProgress = (): void => {
          if (++count === transactions) throw new Error('interrupted');
        };
        const stopped = replay(to, linesOf(from), { signal: never, onProgress });
        expect((await failureOf(stopped)).message).to.equal('interrupted');
        yield to;
      }
    }

    it('happens between events, and between claims', () => {
      const withEvents = heads.filter(({ seq }, index) => seq !== heads[index - 1]?.seq).length;
      expect(withEvents).to.be.above(3);
      expect(heads.length - withEvents).to.be.above(1);
    });

    it('is continued to the same ledger, by --resume only', async () => {
      for await (const to of interrupted()) {
        const refused = await failureOf(replay(to, linesOf(from), { signal: never }));
        expect(refused.message).to.match(/a replay that has not ended/);
        await replay(to, linesOf(from), { signal: never, resume: true });
        expect(to.everything()).to.deep.equal(from.everything());
      }
    });

    it('leaves a ledger that no other program loads or appends to', async () => {
      for await (const to of interrupted()) {
        const { head } = await to.load(never, 'any');
        const { claims, ...complete } = head;
        expect(claims).to.equal('pending');
        const refused = await failureOf(Replica.load(to, never));
        expect([refused.code, refused.message]).to.deep.equal(['UNAVAILABLE', unfinishedReplay(head)]);
        expect((await failureOf(to.head(never))).message).to.equal(unfinishedReplay(head));
        for (const before of [complete, emptyHead])
          expect(await to.append(batchOf(before, [created]))).to.deep.equal({ kind: 'moved' });
      }
    });
  });

  it('continues a complete ledger with later events, and deletes the claims that these drop', async () => {
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

  it('changes nothing when it is resumed after its end', async () => {
    const from = await original();
    const to = new MemoryLedger();
    await replay(to, linesOf(from), { signal: never });
    const revision = to.createdAt(headKey);
    const progress: Head[] = [];
    await replay(to, linesOf(from), { signal: never, resume: true, onProgress: (head) => progress.push(head) });
    expect(progress).to.deep.equal([]);
    expect(to.createdAt(headKey)).to.equal(revision);
  });

  it('resumes only on the beginning of the same ledger', async () => {
    const [from, other] = [await original(), await original()];
    const another = await failureOf(replay(other, linesOf(from), { signal: never, resume: true }));
    expect(another.message).to.match(/^this is another ledger/);
    const longer = new MemoryLedger();
    await replay(longer, linesOf(from), { signal: never });
    const shorter = await failureOf(replay(longer, linesOf(from, 5), { signal: never, resume: true }));
    expect(shorter.message).to.match(/already has \d+ events, but the log to replay has only 5: /);
  });

  it('stops when another program writes, and reports the last written event', async () => {
    const from = await original();
    const to = new MemoryLedger(fewOps);
    const intrude = (): void => void to.put(headKey, from.get(headKey) ?? '');
    const failed = await failureOf(replay(to, linesOf(from), { signal: never, onProgress: intrude }));
    expect(failed.code).to.equal('UNAVAILABLE');
    expect(failed.message).to.match(
      /^the events after \d+ were not written: another program writes to the ledger \(moved\)/,
    );
  });

  it('writes nothing of lines that are not a chain', async () => {
    const from = await original();
    const to = new MemoryLedger();
    async function* gap(): AsyncIterable<string> {
      for await (const line of linesOf(from)) if (!line.includes('"seq":5,')) yield line;
    }
    expect((await failureOf(replay(to, gap(), { signal: never }))).code).to.equal('LEDGER_DAMAGED');
    expect(to.everything()).to.deep.equal({});
  });
});

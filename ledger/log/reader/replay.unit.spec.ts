import { expect } from 'chai';
import { describeState } from '../../domain/testing/describe-state.ts';
import { restoreState } from '../../domain/state/snapshot.ts';
import { allocate, allocateAll } from '../../domain/testing/event-fixtures.ts';
import type { Untimed } from '../../domain/testing/given-when-then.ts';
import { headKey } from '../store/keys.ts';
import { loadAll } from '../testing/load-all.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import { replay } from './replay.ts';
import {
  applySubnet,
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
    const to = new MemoryLedger({ ops: 16, bytes: 1 << 20 });
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

  it('resumes an interrupted replay', async () => {
    const from = await original();
    for (const at of [1, 4, 9]) {
      const to = new MemoryLedger({ ops: 16, bytes: 1 << 20 });
      await replay(to, linesOf(from, at), { signal: never });
      await replay(to, linesOf(from), { signal: never, resume: true });
      expect(to.everything()).to.deep.equal(from.everything());
    }
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
    const to = new MemoryLedger({ ops: 16, bytes: 1 << 20 });
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

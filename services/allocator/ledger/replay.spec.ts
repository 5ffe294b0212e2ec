import { expect } from 'chai';
import { describeState } from '../domain/describe.ts';
import { restore } from '../domain/restore.ts';
import { allocate, allocateAll, type Untimed } from '../domain/specification.ts';
import { headKey } from './keys.ts';
import { MemoryLedger } from './memory.ts';
import { replay } from './replay.ts';
import {
  applySubnet,
  bind,
  carryOut,
  createLedger,
  describeFold,
  failureOf,
  inSmall,
  logOf,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
} from './specification.ts';

/** A ledger with some of everything. */
async function original(...more: readonly Untimed[]): Promise<MemoryLedger> {
  const memory = new MemoryLedger();
  const { writer, stop } = await startWriter(memory);
  await carryOut(writer, createLedger(), macvlan, small);
  const pool: Untimed = {
    type: 'ApplyPool',
    name: 'few',
    spec: { subnet: 'macvlan', ips: ['172.17.1.0..172.17.1.9'], namespaces: [] },
  };
  await carryOut(writer, pool, allocate('a'), bind('a'), allocate('b', inSmall), release('a'), unbind('a'));
  await carryOut(writer, allocateAll('c', [{}, { ordinal: 1 }, { ordinal: 2 }]), release('b'));
  await carryOut(writer, { type: 'RetireSubnet', name: 'small' }, { type: 'RetirePool', name: 'few' });
  await carryOut(writer, applySubnet('other', { cidrBlock: '10.1.0.0/16' }), ...more);
  await stop();
  return memory;
}

async function* linesOf(ledger: MemoryLedger, to = Infinity): AsyncIterable<string> {
  for (const { envelope, text } of await logOf(ledger)) if (envelope.seq <= to) yield text;
}

describe('A replay', () => {
  it('makes the same ledger once more: every key, byte for byte', async () => {
    const from = await original();
    const to = new MemoryLedger();
    const head = await replay(to, linesOf(from), { signal: never });
    expect(head).to.deep.equal(await from.head(never));
    expect(to.everything()).to.deep.equal(from.everything());
    expect(describeState(restore(await to.load(never)))).to.deep.equal(describeFold(await logOf(from)));
  });

  it('never cuts a command, and keeps to what a transaction may hold', async () => {
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

  it('is refused where anything stands, and leaves it as it is', async () => {
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

  it('that was interrupted resumes where it was', async () => {
    const from = await original();
    for (const at of [1, 4, 9]) {
      const to = new MemoryLedger({ ops: 16, bytes: 1 << 20 });
      await replay(to, linesOf(from, at), { signal: never });
      await replay(to, linesOf(from), { signal: never, resume: true });
      expect(to.everything()).to.deep.equal(from.everything());
    }
  });

  it('resumes on nothing but the beginning of the same ledger', async () => {
    const [from, other] = [await original(), await original()];
    const another = await failureOf(replay(other, linesOf(from), { signal: never, resume: true }));
    expect(another.message).to.match(/^this ledger is another/);
    const longer = new MemoryLedger();
    await replay(longer, linesOf(from), { signal: never });
    const shorter = await failureOf(replay(longer, linesOf(from, 5), { signal: never, resume: true }));
    expect(shorter.message).to.match(/has \d+ events already, and these are 5$/);
  });

  it('stops when somebody else writes there, and says where it was', async () => {
    const from = await original();
    const to = new MemoryLedger({ ops: 16, bytes: 1 << 20 });
    const intrude = (): void => void to.put(headKey, from.get(headKey) ?? '');
    const failed = await failureOf(replay(to, linesOf(from), { signal: never, onProgress: intrude }));
    expect(failed.code).to.equal('UNAVAILABLE');
    expect(failed.message).to.match(
      /^the events behind \d+ could not be written: somebody else writes to it \(moved\)/,
    );
  });

  it('writes nothing of lines that do not follow one another', async () => {
    const from = await original();
    const to = new MemoryLedger();
    async function* gap(): AsyncIterable<string> {
      for await (const line of linesOf(from)) if (!line.includes('"seq":5,')) yield line;
    }
    expect((await failureOf(replay(to, gap(), { signal: never }))).code).to.equal('LEDGER_DAMAGED');
    expect(to.everything()).to.deep.equal({});
  });
});

import { expect } from 'chai';
import { allocate } from '../domain/specification.ts';
import type { Head } from './chain.ts';
import { continuityOf } from './continuity.ts';
import { headKey, headText, logKey } from './keys.ts';
import { MemoryLedger } from './memory.ts';
import { ask, carryOut, createLedger, macvlan, never, startWriter, type Working } from './specification.ts';

describe('What somebody remembers of the ledger', () => {
  let memory: MemoryLedger;
  let working: Working;
  let heads: Head[];
  beforeEach(async () => {
    memory = new MemoryLedger();
    working = await startWriter(memory);
    heads = [];
    for (const each of [createLedger(), macvlan, allocate('a'), allocate('b')]) {
      await carryOut(working.writer, each);
      heads.push(working.replica.head);
    }
  });
  afterEach(async () => void (await working.stop()));

  const at = (seq: number): Head => heads[seq - 1] as Head;
  const continuity = async (known: Head) => continuityOf(memory, { known, head: await memory.head(never) }, never);
  /** As if etcd held only what was there by then. */
  function rewindTo(seq: number): void {
    memory.put(headKey, headText(at(seq)));
    for (const { seq: lost } of heads.slice(seq)) memory.remove(logKey(lost));
  }

  it('is in it, wherever it is', async () => {
    for (const head of heads) expect(await continuity(head)).to.equal('holds');
    expect(await continuity({ ...at(1), seq: 0, hash: '' }), 'of nothing').to.equal('holds');
  });

  it('is not, when the ledger ends before it', async () => {
    rewindTo(3);
    expect(await continuity(at(4))).to.equal('rewound');
    expect(await continuity(at(3))).to.equal('holds');
  });

  it('is not, when another event stands in its place, however far the ledger has come since', async () => {
    const known = at(4);
    rewindTo(3);
    await working.stop();
    working = await startWriter(memory);
    await carryOut(working.writer, allocate('c'));
    expect(await continuity(known)).to.equal('rewound');
    await carryOut(working.writer, allocate('d'));
    expect(await continuity(known)).to.equal('rewound');
  });

  it('is of an epoch before, once an operator has let the ledger go on', async () => {
    const known = at(4);
    rewindTo(3);
    await working.stop();
    working = await startWriter(memory);
    const { seq, hash } = at(3);
    const restored = { epoch: 2, seq, hash, lostSeq: 4, reason: 'a backup' };
    await working.writer.submit(ask({ type: 'RestoreLedger', restored }));
    expect(await continuity(known)).to.equal('restored');
    const { head } = working.replica;
    expect(head.epoch).to.equal(2);
    expect(await continuity(head)).to.equal('holds');
    expect(await continuity({ ...head, epoch: 3 }), 'and may be rewound again').to.equal('rewound');
  });
});

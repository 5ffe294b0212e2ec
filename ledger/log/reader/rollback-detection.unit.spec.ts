import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { allocate } from '../../domain/testing/event-fixtures.ts';
import type { Head } from '../chain/chain.ts';
import { detectRollback, freezeIfRestored, restoredRevisions } from './rollback-detection.ts';
import { headKey, logKey } from '../store/keys.ts';
import { headText } from '../store/stored-values.ts';
import { MemoryLedger } from '../testing/memory-ledger.ts';
import {
  requestFor,
  submitAll,
  createLedger,
  macvlan,
  never,
  startWriter,
  type RunningWriter,
} from '../testing/running-writer.ts';

describe('detectRollback', () => {
  let memory: MemoryLedger;
  let working: RunningWriter;
  let heads: Head[];
  beforeEach(async () => {
    memory = new MemoryLedger();
    working = await startWriter(memory);
    heads = [];
    for (const each of [createLedger(), macvlan, allocate('a'), allocate('b')]) {
      await submitAll(working.writer, each);
      heads.push(working.replica.head);
    }
  });
  afterEach(async () => void (await working.stop()));

  const at = (seq: number): Head => heads[seq - 1] as Head;
  const statusOf = async (known: Head) => detectRollback(memory, { known, head: await memory.head(never) }, never);
  /** Restores etcd to its state at an event. */
  function rewindTo(seq: number): void {
    memory.put(headKey, headText(at(seq)));
    for (const { seq: lost } of heads.slice(seq)) memory.remove(logKey(lost));
  }

  it('detectRollback returns holds for every position of the ledger', async () => {
    for (const head of heads) expect(await statusOf(head)).to.equal('holds');
    expect(await statusOf({ ...at(1), seq: 0, hash: '' }), 'of nothing').to.equal('holds');
  });

  it('detectRollback returns rewound when the ledger ends before the position', async () => {
    rewindTo(3);
    expect(await statusOf(at(4))).to.equal('rewound');
    expect(await statusOf(at(3))).to.equal('holds');
  });

  it('detectRollback returns rewound when another event has the same number, also after more events', async () => {
    const known = at(4);
    rewindTo(3);
    await working.stop();
    working = await startWriter(memory);
    await submitAll(working.writer, allocate('c'));
    expect(await statusOf(known)).to.equal('rewound');
    await submitAll(working.writer, allocate('d'));
    expect(await statusOf(known)).to.equal('rewound');
  });

  it('detectRollback returns holds for a sealed position that cannot be read, and rewound for a position that is missing', async () => {
    memory.readEach = () => Promise.reject(new IpledgerError('POSITION_GONE', 'event 2 is sealed'));
    expect(await statusOf(at(2))).to.equal('holds');
    memory.readEach = () => Promise.resolve([undefined]);
    expect(await statusOf(at(2))).to.equal('rewound');
  });

  it('detectRollback returns restored for a position of an earlier epoch', async () => {
    const known = at(4);
    rewindTo(3);
    await working.stop();
    working = await startWriter(memory);
    const { seq, hash } = at(3);
    const restored = { epoch: 2, seq, hash, lostSeq: 4, reason: 'a backup' };
    await working.writer.submit(requestFor({ type: 'RestoreLedger', restored }));
    expect(await statusOf(known)).to.equal('restored');
    const { head } = working.replica;
    expect(head.epoch).to.equal(2);
    expect(await statusOf(head)).to.equal('holds');
    expect(await statusOf({ ...head, epoch: 3 }), 'and may be rewound again').to.equal('rewound');
  });

  it('freezeIfRestored freezes a ledger with as many revisions after its head as the documented restore adds', async () => {
    const after = (revisions: number) =>
      Object.assign(memory, { revisionsSinceHead: () => Promise.resolve(revisions) });
    const by = 'ipledger://allocator/a';
    expect(await freezeIfRestored(after(restoredRevisions - 1), by, never)).to.equal(false);
    expect(await memory.readFreeze(never)).to.equal(undefined);
    for (let starts = 0; starts < 2; starts++)
      expect(await freezeIfRestored(after(restoredRevisions), by, never)).to.equal(true);
    const { epoch, seq, hash } = at(4);
    expect(await memory.readFreeze(never)).to.deep.include({ epoch, seq, hash, by });
  });
});

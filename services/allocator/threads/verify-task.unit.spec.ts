import { rmSync } from 'node:fs';
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { sealOldestEvents } from '../../../ledger/archive/seal.ts';
import { ledgerWithPast, type SealedLedger } from '../../../ledger/archive/testing/sealed-ledger.ts';
import type { Finding } from '../../../ledger/audit/verification/finding.ts';
import type { Head } from '../../../ledger/log/chain/chain.ts';
import { never } from '../../../ledger/log/testing/running-writer.ts';
import { runInThisThread } from './testing/run-in-this-thread.ts';
import { verifyTask } from './verify-task.ts';

describe('A verification from a mark', () => {
  let past: SealedLedger;
  let read: Set<number>;
  beforeEach(async () => {
    past = await ledgerWithPast(20);
    for (const to of [20, 40, 60, 80])
      await sealOldestEvents({ ...past.sealing, canOmitEndState: () => false }, to, never);
    await past.working.stop();
    read = new Set();
    const { get } = past.archive;
    past.archive.get = (name, ...more) => {
      if (name.endsWith('events.ndjson.gz')) read.add(Number(/(\d+)-/.exec(name)?.[1]));
      return get.call(past.archive, name, ...more);
    };
  });
  afterEach(() => rmSync(past.folder, { recursive: true }));

  async function verifyFrom(verified?: Head): Promise<{ readonly head: Head; readonly findings: readonly Finding[] }> {
    const runner = runInThisThread({ ledger: past.ledger, archived: past });
    const request = { checkpoints: '', verifierKeys: [], verified };
    for await (const reply of runner.run(verifyTask, request, never)) if ('result' in reply) return reply.result;
    throw new Error('no result');
  }

  it('a verification from a mark reads no segment before the last verified end state', async () => {
    const end = await past.memory.head(never);
    expect(await verifyFrom()).to.deep.include({ head: end, findings: [] });
    expect([...read].sort((a, b) => a - b)).to.deep.equal([1, 21, 41, 61]);
    read.clear();
    expect(await verifyFrom(end)).to.deep.include({ head: end, findings: [] });
    expect([...read]).to.deep.equal([]);
  });

  it('A verification from a mark does not begin with an end state that was sealed after the mark', async () => {
    const { segments } = past.working.replica.state;
    const sealedThird = segments[2]?.seq ?? 0;
    const lines = await past.ledger.readEach([sealedThird - 1], never);
    expect(lines[0]?.text).to.contain('SegmentSealed');
    const start = await past.ledger.lastEndState('end', never, sealedThird - 1);
    expect(start.head.seq).to.equal(segments[1]?.to);
  });

  it('A verification from a mark reports a marked event that was changed since', async () => {
    const end = await past.memory.head(never);
    const { findings } = await verifyFrom({ ...end, hash: 'ab'.repeat(32) });
    expect(findings.map(({ what }) => what).join()).to.match(
      new RegExp(`^event ${end.seq} or an earlier one was changed since the verification of `),
    );
  });

  it('A verification from a mark begins at the beginning of the history if the marked event was dropped', async () => {
    const end = await past.memory.head(never);
    past.ledger.lastEndState = () => Promise.reject(new IpledgerError('POSITION_GONE', 'event 9 was dropped'));
    expect(await verifyFrom(end)).to.deep.include({ head: end, findings: [] });
    expect(read.size).to.equal(4);
  });

  it('A verification from a mark compares no event of another epoch, and begins with no state of a later epoch', async () => {
    const end = await past.memory.head(never);
    expect((await verifyFrom({ ...end, epoch: 0, hash: 'ab'.repeat(32) })).findings).to.deep.equal([]);
    expect(read.size).to.equal(4);
  });
});

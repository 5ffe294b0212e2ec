import { expect } from 'chai';
import { historyStart } from '../domain/values/ledger.ts';
import { never, silentLog } from '../log/testing/running-writer.ts';
import { runSealSchedule } from './seal-schedule.ts';
import { MemoryArchive } from './testing/memory-archive.ts';
import { ledgerWithPastIn } from './testing/sealed-ledger.ts';

describe('The seal schedule', () => {
  /**
   * Runs `ticks` times on a ledger of 75 events. Without pressure, the schedule would keep 1,000.
   * Returns the log start and the history start.
   */
  async function runAt(
    usedShare: number,
    ticks: number,
    archive = new MemoryArchive(),
  ): Promise<{ logStart: number; history: number }> {
    const past = await ledgerWithPastIn(archive, 12);
    const { replica, writer } = past.working;
    const stop = new AbortController();
    let outcomes = 0;
    const onOutcome = (failure: unknown): void => {
      expect(failure).to.equal(undefined);
      if (++outcomes === ticks) stop.abort();
    };
    const schedule = { keepEvents: 1_000, keepMs: 3_600_000, segmentEvents: 12 };
    const sealing = { ...past.sealing, canOmitEndState: () => false };
    const options = { ...sealing, replica, writer: () => writer, schedule, log: silentLog, intervalMs: 1 };
    await runSealSchedule({ ...options, onOutcome, usedShare: () => usedShare }, stop.signal);
    const reached = { logStart: await past.ledger.logStart(never), history: historyStart(replica.state.segments) };
    await past.working.stop();
    return reached;
  }

  it("The seal schedule seals all but one segment while much of etcd's quota is in use, even events that it would otherwise keep", async () => {
    expect(await runAt(0.3, 10)).to.deep.equal({ logStart: 1, history: 1 });
    const { logStart, history } = await runAt(0.5, 10);
    expect(logStart).to.be.within(60, 72);
    expect(history, 'nothing is dropped').to.equal(1);
  });

  it('The seal schedule drops more than the archive requires while etcd is nearly full', async () => {
    const { logStart, history } = await runAt(0.85, 10);
    expect(history, 'once in ten seconds').to.be.within(20, 30);
    expect(logStart).to.be.above(history);
  });

  it('The seal schedule drops segments of a full archive after each new segment, and reads the size of the archive only then', async () => {
    const archive = new MemoryArchive();
    const { size } = archive;
    let reads = 0;
    archive.size = () => {
      reads++;
      return size.call(archive);
    };
    archive.maxBytes = 1;
    const { logStart, history } = await runAt(0.5, 60, archive);
    expect(logStart).to.be.above(60);
    expect(history).to.equal(logStart);
    expect(reads).to.be.at.most(12);
  });
});

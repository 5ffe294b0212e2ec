import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { allocate } from '../domain/testing/event-fixtures.ts';
import { describeState } from '../domain/testing/describe-state.ts';
import { hasEndState } from '../domain/values/ledger.ts';
import { verifyLedger } from '../audit/verification/verify-ledger.ts';
import { droppedKey } from '../log/store/keys.ts';
import { fold } from '../log/reader/fold.ts';
import { describeFold, logOf, never, submitAll } from '../log/testing/running-writer.ts';
import { isEndStateDue, sealOldestEvents } from './seal.ts';
import { ledgerWithPast, runPodLife, type SealedLedger } from './testing/sealed-ledger.ts';

const segmentEvents = 12;

describe('End states of segments', () => {
  let past: SealedLedger;
  beforeEach(async () => {
    past = await ledgerWithPast(1);
  });
  afterEach(async () => {
    await past.working.stop();
    rmSync(past.folder, { recursive: true, force: true });
  });

  /** Creates live allocations, then seals the given number of segments of two Pods each. */
  async function sealBeside(claims: number, segments: number, sealing = past.sealing): Promise<void> {
    const { writer, replica } = past.working;
    await submitAll(writer, ...Array.from({ length: claims }, (_, index) => allocate(`live-${index}`)));
    await sealOldestEvents(sealing, replica.head.seq, never);
    for (let index = 0; index < segments; index++) {
      for (const pod of ['a', 'b']) await runPodLife(past.working, `${pod}-${index}`);
      await sealOldestEvents(sealing, replica.head.seq - 1, never);
    }
  }

  const bytesOf = (kind: string): number => {
    const folder = join(past.folder, past.working.replica.head.ledger);
    const names = readdirSync(folder).filter((name) => name.includes(kind));
    return names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  };

  it('end states take no more bytes than the events, even with many live allocations', async () => {
    await sealBeside(400, 30);
    expect(bytesOf('.state.')).to.be.below(bytesOf('.events.'));
    const { segments } = past.working.replica.state;
    expect(hasEndState(segments[0] as (typeof segments)[0]), 'of the first segment').to.equal(true);
    expect(segments.filter(hasEndState).length, 'end states').to.be.within(2, 10);
  });

  it('a fold reaches a state through segments without an end state, and verification covers them', async () => {
    await sealBeside(60, 8);
    const { segments } = past.working.replica.state;
    expect(segments.filter(hasEndState)).to.have.length.below(segments.length);
    const events = await logOf(past.ledger);
    for (const { to } of segments)
      for (const seq of [to - segmentEvents / 2, to]) {
        const start = await past.ledger.lastEndState({ seq }, never);
        const { state } = await fold(past.ledger, start, { seq }, { signal: never });
        expect(describeState(state), `at ${seq}`).to.deep.equal(describeFold(events.slice(0, seq)));
      }
    expect((await verifyLedger(past.ledger, { signal: never })).findings).to.deep.equal([]);
  });

  it('verification reports a key in an end state that does not follow from the events', async () => {
    const { lastEndState } = past.ledger;
    past.ledger.lastEndState = async (...until) => {
      const start = await lastEndState.apply(past.ledger, until);
      start.state.dropped.set('macvlan', [1]);
      return start;
    };
    const { seq } = past.working.replica.head;
    await sealOldestEvents(past.sealing, seq, never);
    const { findings } = await verifyLedger(past.ledger, { signal: never });
    expect(findings.map(({ key, what }) => [key, what])).to.deep.equal([
      [
        droppedKey('macvlan'),
        `in the archived state after event ${seq}: it does not follow from the log: another program wrote it`,
      ],
    ]);
  });

  it('each segment has an end state while a replica cannot read a segment without one', async () => {
    await sealBeside(60, 3, { ...past.sealing, canOmitEndState: () => false });
    expect(past.working.replica.state.segments.filter(hasEndState)).to.have.length(4);
  });

  it('an end state is due when the segments since the last one are as large as it, and after a segment of unknown size', () => {
    const segment = { from: 1, to: 2, since: '', until: '', hash: '', manifest: '', archive: '' };
    const of = (bytes: number, isFull = false) => ({ ...segment, files: { bytes, hasEndState: isFull } });
    expect(isEndStateDue([], 1)).to.equal(true);
    expect(isEndStateDue([segment], 1)).to.equal(true);
    expect(isEndStateDue([of(100, true), of(40)], 59)).to.equal(false);
    expect(isEndStateDue([of(100, true), of(40)], 60)).to.equal(true);
    expect(isEndStateDue([of(10, true), of(40), of(100, true)], 60)).to.equal(false);
  });
});

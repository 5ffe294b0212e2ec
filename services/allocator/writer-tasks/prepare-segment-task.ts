/**
 * The task that writes the next segment to the archive. It runs in a thread, because it may fold
 * the log, and compresses what it writes.
 */
import { prepareSegment } from '../../../ledger/archive/seal.ts';
import type { SealedSegment, Seq } from '../../../ledger/domain/values/ledger.ts';
import type { Task } from '../threads/task.ts';

interface PrepareSegmentRequest {
  readonly to: Seq;
  readonly canOmitEndState: boolean;
}

export const prepareSegmentTask: Task<PrepareSegmentRequest, SealedSegment> = {
  name: 'prepare-segment',
  async run({ archived }, { to, canOmitEndState }, send, signal) {
    if (!archived) throw new Error('a segment needs an archive');
    await send(await prepareSegment({ ...archived, canOmitEndState: () => canOmitEndState }, to, signal));
  },
};

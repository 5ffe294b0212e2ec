/** Seals segments of the log: each begins after the previous one, without gap and overlap. */
import type { SealSegment } from '../commands/command.ts';
import type { Event } from '../events/event.ts';
import { Refused } from '../commands/refusal.ts';
import { lastSealedSeq, type State } from '../state/state.ts';

/** @throws Refused SEGMENT_SEALED if the segment does not begin after the last sealed event: another replica sealed it. */
export function sealSegment(state: State, { segment }: SealSegment): Event[] {
  const sealed = lastSealedSeq(state);
  if (segment.from !== sealed + 1 || segment.to < segment.from)
    throw new Refused(
      'SEGMENT_SEALED',
      `events ${segment.from} to ${segment.to} can't be sealed: the last sealed event is ${sealed}. Begin at event ${sealed + 1}`,
    );
  return [{ type: 'SegmentSealed', subnet: '', data: segment }];
}

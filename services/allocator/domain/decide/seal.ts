/** Seals stretches of the log, each right behind the one before: they never overlap, and leave no gap. */
import type { SealSegment } from '../command.ts';
import type { Event } from '../event.ts';
import { Refused } from '../refusal.ts';
import { sealedTo, type State } from '../state.ts';

/** @throws Refused SEGMENT_SEALED for one that does not begin behind the last: somebody else sealed meanwhile. */
export function sealSegment(state: State, { segment }: SealSegment): Event[] {
  const sealed = sealedTo(state);
  if (segment.from !== sealed + 1 || segment.to < segment.from)
    throw new Refused(
      'SEGMENT_SEALED',
      `events ${segment.from} to ${segment.to} can't be sealed: event ${sealed} is the last that is, begin behind it`,
    );
  return [{ type: 'SegmentSealed', subnet: '', data: segment }];
}

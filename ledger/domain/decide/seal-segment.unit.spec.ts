import type { Event } from '../events/event.ts';
import { given } from '../testing/given-when-then.ts';

const segment = (from: number, to: number) => ({
  from,
  to,
  since: '2026-01-31T08:00:00.000Z',
  until: '2026-01-31T09:00:00.000Z',
  hash: `h${to}`,
  manifest: `m${to}`,
  archive: 'folder /archive',
});
const sealed = (from: number, to: number): Event => ({
  type: 'SegmentSealed',
  subnet: '',
  data: segment(from, to),
});

describe('SealSegment', () => {
  it('SealSegment accepts a segment that begins with the first event, or after the last sealed event', () => {
    given([])
      .when({ type: 'SealSegment', segment: segment(1, 10) })
      .then([sealed(1, 10)]);
    given([sealed(1, 10)])
      .when({ type: 'SealSegment', segment: segment(11, 20) })
      .then([sealed(11, 20)]);
  });

  it('SealSegment is refused for a gap, an overlap, or an empty segment', () => {
    for (const [from, to] of [
      [1, 10],
      [5, 15],
      [10, 20],
      [12, 20],
      [11, 10],
    ] as const)
      given([sealed(1, 10)])
        .when({ type: 'SealSegment', segment: segment(from, to) })
        .thenRefused('SEGMENT_SEALED', 'the last sealed event is 10. Begin at event 11');
  });
});

const dropped = (to: number): Event => ({
  type: 'HistoryDropped',
  subnet: '',
  data: { to, until: '2026-01-31T09:00:00.000Z', hash: `h${to}`, reason: 'full' },
});

describe('DropHistory', () => {
  it('DropHistory accepts the end of any sealed segment that is not dropped', () => {
    given([sealed(1, 10), sealed(11, 20), sealed(21, 30)])
      .when({ type: 'DropHistory', to: 20, reason: 'full' })
      .then([dropped(20)]);
    given([sealed(1, 10), sealed(11, 20), sealed(21, 30), dropped(20)])
      .when({ type: 'DropHistory', to: 30, reason: 'full' })
      .then([dropped(30)]);
  });

  it('DropHistory is refused for an event that ends no segment, and for a dropped segment', () => {
    for (const to of [10, 20, 25, 31])
      given([sealed(1, 10), sealed(11, 20), sealed(21, 30), dropped(20)])
        .when({ type: 'DropHistory', to, reason: 'full' })
        .thenRefused('SEGMENT_SEALED', 'no sealed segment ends there. It begins with event 21');
  });
});

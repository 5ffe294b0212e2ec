/** Definitions of events about the ledger: creation, recovery, checkpoint keys, archive. */
import { lastSealedSeq } from '../state/state.ts';
import { hasEndState, historyStart } from '../values/ledger.ts';
import { type EventDefinition, noAddresses, noOtherKey, noRule, recordedOnly } from './event-definition.ts';

export const ledgerCreated: EventDefinition<'LedgerCreated'> = {
  since: 1,
  changes: [],
  addressesOf: noAddresses,
  otherKeyOf: noOtherKey,
  evolve: (state, event, undoLog) => {
    const previous = state.ledger;
    state.ledger = event.data.ledger;
    undoLog.record(() => {
      state.ledger = previous;
    });
  },
  brokenRule: noRule,
};

export const segmentSealed: EventDefinition<'SegmentSealed'> = {
  since: 4,
  changes: [
    {
      version: 7,
      adds: 'the size of its files, and whether they have an end state',
      downcast: ({ files: _, ...data }) => data,
      // Earlier versions start a replay at the last segment, and expect an end state there.
      isRequiredBy: (data) => !hasEndState(data),
    },
  ],
  addressesOf: noAddresses,
  otherKeyOf: ({ seq, data }) => ({ kind: 'segments', segment: { seq, ...data } }),
  evolve: (state, event, undoLog) => {
    const previous = state.segments;
    state.segments = [...previous, { seq: event.seq, ...event.data }];
    undoLog.record(() => {
      state.segments = previous;
    });
  },
  brokenRule: (state, { seq, data: { from, to } }) => {
    const sealed = lastSealedSeq(state);
    if (from !== sealed + 1) return `seals events from ${from} on; the last sealed event is ${sealed}`;
    return to >= from && to < seq ? undefined : `seals events ${from} to ${to}, which are not all before it`;
  },
};

export const historyDropped: EventDefinition<'HistoryDropped'> = {
  since: 8,
  changes: [],
  addressesOf: noAddresses,
  otherKeyOf: () => ({ kind: 'historyStart' }),
  evolve: (state, { seq, data: { to } }, undoLog) => {
    const previous = state.segments;
    const [last, ...later] = previous.filter((segment) => segment.to >= to);
    if (last?.to !== to) return;
    state.segments = [{ ...last, dropped: seq }, ...later];
    undoLog.record(() => {
      state.segments = previous;
    });
  },
  brokenRule: (state, { data: { to, until, hash } }) => {
    const segment = state.segments.find((each) => each.to === to);
    if (!segment || to < historyStart(state.segments)) return `drops events up to ${to}, where no sealed segment ends`;
    return segment.hash === hash && segment.until === until
      ? undefined
      : `drops events up to ${to} with a hash or a time that differs from that of the sealed segment`;
  },
};

export const ledgerRestored: EventDefinition<'LedgerRestored'> = recordedOnly(4);

export const keyRotated: EventDefinition<'KeyRotated'> = recordedOnly(4);

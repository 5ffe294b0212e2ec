/** The handlers of the Ledger service. */
import type { LedgerService } from '../../../../proto/generated/ipledger.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { createCheckpoint, streamExport, streamVerification } from './audit.ts';
import { streamDiff } from '../point-in-time/diff.ts';
import { getHistory, explainPod } from '../history/history.ts';
import type { CallContext, Handlers } from '../../../../lib/grpc/server/serve.ts';
import { restoreLedger, unfreezeLedger } from '../recovery/restore.ts';
import { getStatus } from './status.ts';
import { streamStateAt } from '../point-in-time/state-at.ts';
import { PointInTimeReader } from '../point-in-time/point-in-time.ts';
import { EncodedEvents } from './encoded-events.ts';
import { SharedTurns } from '../../../../lib/process/shared-turns.ts';
import { streamEvents } from './watch.ts';
import { isReader } from '../reader-limits.ts';

/**
 * The shares of a turn in which events are parsed and encoded for all streams and scans: of the
 * programs that follow the ledger, and of people. An Attach takes about five turns.
 */
const eventMsPerTurn = { programs: 3, readers: 0.5 };
/**
 * The pause between two turns with events for people: they take a fifth of the event loop at most,
 * for about ten thousand events a second.
 */
const readerPauseMs = 2;

export function ledgerHandlers(allocator: AllocatorContext): Handlers<typeof LedgerService> {
  const pointInTime = new PointInTimeReader(allocator);
  const encoded = new EncodedEvents();
  const turns = {
    programs: new SharedTurns(eventMsPerTurn.programs),
    readers: new SharedTurns(eventMsPerTurn.readers, (run) => setTimeout(run, readerPauseMs)),
  };
  const turnsOf = ({ actor }: CallContext): SharedTurns => (isReader(actor) ? turns.readers : turns.programs);
  return {
    watch: (request, context) => streamEvents({ allocator, encoded, turns: turnsOf(context) }, request, context),
    history: (request, context) => getHistory({ allocator, turns: turnsOf(context) }, request, context),
    nextAllocations: () => Promise.resolve({ seqs: [] }), // only the read model has this index
    stateAt: (request, context) => streamStateAt(pointInTime, request, context),
    diff: (request, context) => streamDiff(pointInTime, request, context),
    why: (request, context) => explainPod({ allocator, turns: turnsOf(context) }, request, context),
    verify: (request, context) => streamVerification(pointInTime, request, context),
    export: (request, context) => streamExport(allocator.replica.ledger, request, context),
    checkpoint: (_request, context) => createCheckpoint(allocator, context),
    getStatus: (_request, context) => getStatus(allocator, context),
    restore: (request, context) => restoreLedger(allocator, request, context),
    unfreeze: (_request, context) => unfreezeLedger(allocator, context),
  };
}

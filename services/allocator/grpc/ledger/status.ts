/**
 * Ledger.GetStatus: the head, the oldest readable event, a freeze, and why nothing can be written.
 */
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import { historyStart, type Segment, type Seq } from '../../../../ledger/domain/values/ledger.ts';
import { lastSealedSeq } from '../../../../ledger/domain/state/state.ts';
import { type Envelope, parseEvent } from '../../../../ledger/log/chain/chain.ts';
import type { EventReader } from '../../../../ledger/log/store/ledger.ts';
import type { AllocatorContext } from '../allocator-context.ts';
import { runQuery } from '../run-query.ts';
import { freezeMessage } from '../recovery/freeze.ts';
import { positionMessage, headTime } from '../messages.ts';

/** @throws IpledgerError UNAVAILABLE. */
export async function getStatus(
  allocator: AllocatorContext,
  context: CallContext,
): Promise<MessageInput<api.GetStatusReply>> {
  const { answer, head } = await runQuery(allocator, context, (state) => ({
    segments: () => state.segments,
    firstLive: lastSealedSeq(state) + 1,
  }));
  const [oldest, freeze, obstacle] = await Promise.all([
    readOldestEnvelope(allocator.replica.ledger, answer, context.signal),
    freezeMessage(allocator, context.signal),
    allocator.findWriteObstacle(),
  ]);
  const { size, quotaBytes = 0 } = allocator.space ?? {};
  return {
    position: positionMessage(head),
    caller: context.actor,
    ledger: head.ledger,
    at: headTime(head),
    ...(oldest && { oldestSeq: oldest.seq, oldestAt: oldest.at }),
    logStartSeq: answer.firstLive,
    historyStartSeq: historyStart(answer.segments()),
    ledgerTime: new Date(allocator.replica.clock.read().at).toISOString(),
    ...freeze,
    ...(obstacle && { cannotWrite: obstacle }),
    ...(size && {
      storage: {
        usedBytes: size.inUse,
        quotaBytes,
        ...(size.daysLeft !== undefined && { daysLeft: Math.floor(size.daysLeft) }),
      },
    }),
  };
}

/**
 * Returns the oldest readable event: the beginning of the history if nothing is sealed or the
 * archive is available, else the first event in etcd. An unavailable or damaged archive is not an
 * error here.
 */
export async function readOldestEnvelope(
  ledger: EventReader,
  { segments, firstLive }: { readonly segments: () => readonly Segment[]; readonly firstLive: Seq },
  signal: AbortSignal,
): Promise<Envelope | undefined> {
  const readEnvelope = async (seq: Seq): Promise<Envelope | undefined> => {
    const [line] = await ledger.readEach([seq], signal);
    return line && parseEvent(line.text).envelope;
  };
  for (let start = 0; historyStart(segments()) > start;) {
    start = historyStart(segments());
    try {
      return await readEnvelope(start);
    } catch {
      // The writer may have dropped the event.
    }
  }
  return readEnvelope(firstLive);
}

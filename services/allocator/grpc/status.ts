/** Ledger.GetStatus: where the ledger stands, and how far back it can be asked. */
import type { CallContext } from '../../../lib/serving/serve.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Seq } from '../domain/event.ts';
import { sealedTo } from '../domain/state.ts';
import { type Envelope, parseEvent } from '../ledger/chain.ts';
import type { EventReader } from '../ledger/ledger.ts';
import { type Allocator, question } from './allocator.ts';
import { freezeOf } from './freeze.ts';
import { positionOf, timeOf } from './messages.ts';

/** @throws IpledgerError UNAVAILABLE. */
export async function getStatus(allocator: Allocator, context: CallContext): Promise<Input<api.GetStatusReply>> {
  const { answer: sealed, head } = await question(allocator, context, sealedTo);
  const oldest = await oldestOf(allocator.replica.ledger, sealed + 1, context.signal);
  return {
    position: positionOf(head),
    ledger: head.ledger,
    at: timeOf(head),
    ...(oldest && { oldestSeq: oldest.seq, oldestAt: oldest.at }),
    liveFromSeq: sealed + 1,
    ...(await freezeOf(allocator, context.signal)),
  };
}

/**
 * The first event that can be read: the very first where nothing is sealed or the archive is at hand, else the first live one. That
 * the archive is away, or damaged, is no reason not to say where the ledger stands.
 */
export async function oldestOf(ledger: EventReader, live: Seq, signal: AbortSignal): Promise<Envelope | undefined> {
  const eventOf = async (seq: Seq): Promise<Envelope | undefined> => {
    const [line] = await ledger.readEach([seq], signal);
    return line && parseEvent(line.text).envelope;
  };
  try {
    return await eventOf(1);
  } catch {
    return eventOf(live);
  }
}

/** How an operator lets a ledger go on that was rewound. */
import { IpledgerError, isGone } from '../../../lib/errors.ts';
import { required } from '../../../lib/serving/read.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Command } from '../domain/command.ts';
import { type Head, parseEvent } from '../ledger/chain.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Allocator, question, writerOf } from './allocator.ts';
import { whyFrozen } from './freeze.ts';
import { positionOf } from './messages.ts';

/**
 * Begins an epoch, unless another one was begun since the ledger was compared with the cluster. A run that broke off after that
 * compares it in the new epoch, which then goes on.
 * @throws IpledgerError INVALID_REQUEST; LEDGER_NOT_FROZEN; POSITION_GONE when it was restored meanwhile; NOT_WRITER; UNAVAILABLE.
 */
export async function restore(
  allocator: Allocator,
  request: api.RestoreRequest,
  { actor, signal }: CallContext,
): Promise<Input<api.RestoreReply>> {
  const reason = required('reason', request.reason);
  const { compared } = request;
  if (!compared?.epoch)
    throw new IpledgerError('INVALID_REQUEST', 'compared is missing: where did the ledger stand that was looked at?');
  const writer = writerOf(allocator);
  const meanwhile = (): Promise<IpledgerError> => restoredSince(allocator, compared, signal);
  const { head } = await writer.submit({ answer: () => undefined, actor, signal });
  if (head.epoch !== compared.epoch) throw await meanwhile();
  const { brake, replica } = allocator;
  if (request.unnoticed) await brake.freeze(whyFrozen(head, actor, head), head, signal);
  const frozen = await brake.frozen(signal);
  if (!frozen) {
    const { epoch } = await replica.ledger.head(signal);
    if (epoch !== compared.epoch) throw await meanwhile();
    throw notFrozen('it is not frozen: nobody remembers more of it than it holds');
  }
  if (compared.epoch > frozen.epoch) return { position: positionOf(head) };
  const command = (now: number, behind: Head): Command | undefined => {
    if (behind.epoch !== compared.epoch) return undefined;
    const { seq, hash } = frozen.found ?? behind;
    const restored = { epoch: frozen.epoch + 1, seq, hash, lostSeq: Math.max(frozen.seq, seq), reason };
    return { type: 'RestoreLedger', now, restored };
  };
  const begun = await writer.submit({ command, answer: (_, events) => events.length > 0, actor, signal });
  if (!begun.answer) throw await meanwhile();
  return { position: positionOf(begun.head) };
}

/** What somebody is told who compared another epoch than there is: who began it, where the log tells that on its next page. */
async function restoredSince(
  { replica }: Allocator,
  { epoch, seq }: api.Position,
  signal: AbortSignal,
): Promise<IpledgerError> {
  const head = await replica.ledger.head(signal);
  const place = `it is at epoch ${head.epoch}, event ${head.seq}, and epoch ${epoch} was compared`;
  const begun = await beginningOf(replica.ledger, seq + 1, signal);
  const by = begun
    ? `: event ${begun.seq} of ${begun.at} by ${begun.actor} began epoch ${begun.epoch} (${begun.reason})`
    : '';
  return new IpledgerError(
    'POSITION_GONE',
    `the ledger was recovered meanwhile${by}; ${place}. Nothing was done now: ipledger recover shows what is left`,
  );
}

/** The event that began an epoch, if it is among the first from `from` on. */
async function beginningOf(ledger: Ledger, from: number, signal: AbortSignal) {
  try {
    for await (const page of ledger.read(from, signal)) {
      for (const { text } of page) {
        const { envelope, sequenced } = parseEvent(text);
        const { type, data } = sequenced;
        if (type === 'LedgerRestored') return { ...data, seq: envelope.seq, at: envelope.at, actor: envelope.actor };
      }
      break;
    }
  } catch (error) {
    // Sealed by now, and not at hand: it is told without.
    if (!isGone(error)) throw error;
  }
  return undefined;
}

/** @throws IpledgerError LEDGER_NOT_FROZEN; UNAVAILABLE. */
export async function thaw(allocator: Allocator, context: CallContext): Promise<Input<api.ThawReply>> {
  const { head } = await question(allocator, context, () => undefined);
  const frozen = await allocator.brake.frozen(context.signal);
  if (frozen && head.epoch <= frozen.epoch) throw notFrozen('it was not restored yet: it stays frozen');
  if (frozen) await allocator.brake.thaw(context.signal);
  return { position: positionOf(head) };
}

const notFrozen = (what: string): IpledgerError => new IpledgerError('LEDGER_NOT_FROZEN', `the ledger: ${what}`);

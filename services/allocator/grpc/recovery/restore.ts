/** Ledger.Restore and Ledger.Unfreeze: an operator continues a rewound ledger in a new epoch. */
import { escapeUnprintable } from '../../../../lib/unprintable.ts';
import { IpledgerError, isPositionGone } from '../../../../lib/errors.ts';
import { requireField } from '../../../../lib/grpc/server/read-request.ts';
import type { CallContext } from '../../../../lib/grpc/server/serve.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type * as api from '../../../../proto/generated/ipledger.ts';
import type { Command } from '../../../../ledger/domain/commands/command.ts';
import { type Head, parseEvent } from '../../../../ledger/log/chain/chain.ts';
import type { Ledger } from '../../../../ledger/log/store/ledger.ts';
import { type AllocatorContext, requireWriter } from '../allocator-context.ts';
import { runQuery } from '../run-query.ts';
import { createFreezeRecord } from '../../../../ledger/log/reader/rollback-detection.ts';
import { positionMessage } from '../messages.ts';

/**
 * Begins an epoch, unless another run of `recover` has begun one since the ledger was compared with
 * the cluster. After an interrupted run, the next run compares the ledger in the new epoch and
 * continues in it.
 * @throws IpledgerError INVALID_REQUEST; LEDGER_NOT_FROZEN; POSITION_GONE if the ledger was
 * restored since; NOT_WRITER; UNAVAILABLE.
 */
export async function restoreLedger(
  allocator: AllocatorContext,
  request: api.RestoreRequest,
  { actor, signal }: CallContext,
): Promise<MessageInput<api.RestoreReply>> {
  const reason = escapeUnprintable(requireField('reason', request.reason));
  const { comparedPosition: compared } = request;
  if (!compared?.epoch)
    throw new IpledgerError(
      'INVALID_REQUEST',
      'compared_position is missing: send the position of the ledger that was compared with the cluster',
    );
  const writer = requireWriter(allocator);
  const restoredError = (): Promise<IpledgerError> => restoredSince(allocator, compared, signal);
  const { head } = await writer.submit({ answer: () => undefined, actor, signal });
  if (head.epoch !== compared.epoch) throw await restoredError();
  const { freezeStore, replica } = allocator;
  if (request.freezeFirst) await freezeStore.freeze(createFreezeRecord(head, actor, head), head, signal);
  const frozen = await freezeStore.readFreeze(signal);
  if (!frozen) {
    const { epoch } = await replica.ledger.head(signal);
    if (epoch !== compared.epoch) throw await restoredError();
    throw notFrozen(
      'the ledger is not frozen: no client has reported events that are missing. To recover it all the same, use --undetected',
    );
  }
  if (compared.epoch > frozen.epoch) return { position: positionMessage(head) };
  const command = (now: number, currentHead: Head): Command | undefined => {
    if (currentHead.epoch !== compared.epoch) return undefined;
    const { seq, hash } = frozen.found ?? currentHead;
    const restored = { epoch: frozen.epoch + 1, seq, hash, lostSeq: Math.max(frozen.seq, seq), reason };
    return { type: 'RestoreLedger', now, restored };
  };
  const result = await writer.submit({ command, answer: (_, events) => events.length > 0, actor, signal });
  if (!result.answer) throw await restoredError();
  return { position: positionMessage(result.head) };
}

/**
 * The error if the comparison was made in an earlier epoch. It names the event that began the
 * current epoch, if that is near.
 */
async function restoredSince(
  { replica }: AllocatorContext,
  { epoch, seq }: api.Position,
  signal: AbortSignal,
): Promise<IpledgerError> {
  const head = await replica.ledger.head(signal);
  const place = `the ledger is at epoch ${head.epoch}, event ${head.seq}, and the comparison was in epoch ${epoch}`;
  const begun = await findEpochStart(replica.ledger, seq + 1, signal);
  const by = begun
    ? `: event ${begun.seq} of ${begun.at} by ${begun.actor} began epoch ${begun.epoch} (${begun.reason})`
    : '';
  return new IpledgerError(
    'POSITION_GONE',
    `another run has recovered the ledger${by}; ${place}. Nothing was changed: run ipledger recover again to see what is missing`,
  );
}

/** The event that began an epoch, if it is on the first page from `from` on. */
async function findEpochStart(ledger: Ledger, from: number, signal: AbortSignal) {
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
    // The message names no event: etcd no longer has it, and there is no archive.
    if (!isPositionGone(error)) throw error;
  }
  return undefined;
}

/** @throws IpledgerError LEDGER_NOT_FROZEN; UNAVAILABLE. */
export async function unfreezeLedger(
  allocator: AllocatorContext,
  context: CallContext,
): Promise<MessageInput<api.UnfreezeReply>> {
  const { head } = await runQuery(allocator, context, () => undefined);
  const frozen = await allocator.freezeStore.readFreeze(context.signal);
  if (frozen && head.epoch <= frozen.epoch)
    throw notFrozen('the ledger was not restored yet, so it stays frozen: call Restore first');
  if (frozen) await allocator.freezeStore.unfreeze(context.signal);
  return { position: positionMessage(head) };
}

const notFrozen = (message: string): IpledgerError => new IpledgerError('LEDGER_NOT_FROZEN', message);

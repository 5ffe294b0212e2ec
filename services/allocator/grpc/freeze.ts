/** A ledger that was rewound: how that is found out and told, and how an operator lets it go on. */
import { IpledgerError } from '../../../lib/errors.ts';
import { required } from '../../../lib/serving/read.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Head } from '../ledger/chain.ts';
import { continuityOf, type Remembered } from '../ledger/continuity.ts';
import type { Brake, Ledger } from '../ledger/ledger.ts';
import { type Allocator, question, writerOf } from './allocator.ts';
import { positionOf } from './messages.ts';

/** Callers who may only read: the ledger is not halted on their word. */
const readsOnly = /^ipledger:\/\/(viewer|index)(\/|$)/;

/**
 * Holds the ledger to what a caller remembers of it.
 * @throws IpledgerError LEDGER_FROZEN when the ledger lacks it: it is frozen by then; POSITION_GONE when it was restored since.
 */
export async function holdTo(
  { replica, brake }: Allocator,
  known: Remembered | undefined,
  { actor, signal }: CallContext,
): Promise<void> {
  if (!known) return;
  const continuity = await continuityOf(replica.ledger, known, signal);
  if (continuity === 'holds') return;
  if (continuity === 'restored')
    throw new IpledgerError(
      'POSITION_GONE',
      `the ledger was restored from a backup and goes on in a new epoch: event ${known.seq} of epoch ${known.epoch} may not be in it. Begin with a new snapshot`,
    );
  if (!readsOnly.test(actor)) await freeze({ ledger: replica.ledger, brake }, known, actor, signal);
  throw new IpledgerError(
    'LEDGER_FROZEN',
    `event ${known.seq} of epoch ${known.epoch} is not in the ledger (any more): etcd was restored from a backup. Compare it with the cluster: ipledger recover`,
  );
}

interface Halted {
  readonly ledger: Pick<Ledger, 'head'>;
  readonly brake: Brake;
}

/** From now on no replica allocates. */
async function freeze({ ledger, brake }: Halted, known: Remembered, by: string, signal: AbortSignal): Promise<void> {
  const { epoch, seq, hash } = known;
  const head = await ledger.head(signal);
  const found = { epoch: head.epoch, seq: head.seq, hash: head.hash, at: new Date(head.at).toISOString() };
  await brake.freeze({ epoch, seq, hash, by, at: new Date().toISOString(), found }, signal);
}

/** Freezes a ledger that lacks what a replica has seen of it. */
export async function freezeIfRewound(
  ledger: Ledger,
  brake: Brake,
  { head, by }: { readonly head: Head; readonly by: string },
  signal: AbortSignal,
): Promise<boolean> {
  const rewound = (await continuityOf(ledger, head, signal)) === 'rewound';
  if (rewound) await freeze({ ledger, brake }, head, by, signal);
  return rewound;
}

/** The field of a reply that says that the ledger is frozen. */
export async function freezeOf({ brake }: Allocator, signal: AbortSignal): Promise<{ freeze?: Input<api.Freeze> }> {
  const frozen = await brake.frozen(signal);
  if (!frozen) return {};
  const { by, at, epoch, seq, hash, found } = frozen;
  const stood = found && { found: { epoch: found.epoch, seq: found.seq, hash: found.hash }, foundAt: found.at };
  return { freeze: { known: { epoch, seq, hash }, by, at, ...stood } };
}

/** @throws IpledgerError INVALID_REQUEST; LEDGER_NOT_FROZEN; NOT_WRITER; UNAVAILABLE. */
export async function restore(
  allocator: Allocator,
  request: api.RestoreRequest,
  { actor, signal }: CallContext,
): Promise<Input<api.RestoreReply>> {
  const reason = required('reason', request.reason);
  const writer = writerOf(allocator);
  const { head: found } = await writer.submit({ answer: () => undefined, actor, signal });
  const { brake, replica } = allocator;
  if (request.unnoticed) await freeze({ ledger: replica.ledger, brake }, found, actor, signal);
  const frozen = await brake.frozen(signal);
  if (!frozen) throw notFrozen('it is not frozen: nobody remembers more of it than it holds');
  // Asked again after an answer that was lost: it went on already.
  if (found.epoch > frozen.epoch) return { position: positionOf(found) };
  const { seq, hash } = frozen.found ?? found;
  const lostSeq = Math.max(frozen.seq, seq);
  const restored = { epoch: frozen.epoch + 1, seq, hash, lostSeq, reason };
  const command = (now: number) => ({ type: 'RestoreLedger', now, restored }) as const;
  const { head } = await writer.submit({ command, answer: () => undefined, actor, signal });
  return { position: positionOf(head) };
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

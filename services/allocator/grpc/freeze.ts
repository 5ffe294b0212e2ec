/** A ledger that was rewound: how that is found out and told, and who halts it. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { CallContext } from '../../../lib/serving/serve.ts';
import type { Input } from '../../../proto/codec.ts';
import type * as api from '../../../proto/ipledger.ts';
import type { Head } from '../ledger/chain.ts';
import { continuityOf, type Remembered } from '../ledger/continuity.ts';
import type { Frozen } from '../ledger/keys.ts';
import type { Brake, Ledger } from '../ledger/ledger.ts';
import type { Allocator } from './allocator.ts';

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
  const found = await replica.ledger.head(signal);
  const continuity = await continuityOf(replica.ledger, { known, head: found }, signal);
  if (continuity === 'holds') return;
  if (continuity === 'restored')
    throw new IpledgerError(
      'POSITION_GONE',
      `the ledger was restored from a backup and goes on in a new epoch: event ${known.seq} of epoch ${known.epoch} may not be in it. Begin with a new snapshot`,
    );
  if (!readsOnly.test(actor)) await brake.freeze(whyFrozen(known, actor, found), found, signal);
  throw new IpledgerError(
    'LEDGER_FROZEN',
    `event ${known.seq} of epoch ${known.epoch} is not in the ledger (any more): etcd was restored from a backup. Compare it with the cluster: ipledger recover`,
  );
}

/** From now on no replica allocates. @param found where the ledger stands. */
export function whyFrozen({ epoch, seq, hash }: Remembered, by: string, found: Head): Frozen {
  const stands = { epoch: found.epoch, seq: found.seq, hash: found.hash, at: new Date(found.at).toISOString() };
  return { epoch, seq, hash, by, at: new Date().toISOString(), found: stands };
}

/** Freezes a ledger that lacks what a replica has seen of it. */
export async function freezeIfRewound(
  ledger: Ledger,
  brake: Brake,
  { head, by }: { readonly head: Head; readonly by: string },
  signal: AbortSignal,
): Promise<boolean> {
  const found = await ledger.head(signal);
  const rewound = (await continuityOf(ledger, { known: head, head: found }, signal)) === 'rewound';
  if (rewound) await brake.freeze(whyFrozen(head, by, found), found, signal);
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

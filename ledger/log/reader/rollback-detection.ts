/**
 * Detects that etcd was restored from an older backup, and freezes the ledger. A restored ledger is
 * consistent in itself. A client that has read a later position shows that events are missing, and
 * the documented restore shows itself by the revisions of etcd.
 */
import { undefinedIfGone } from '../../../lib/errors.ts';
import { type Head, parseEvent } from '../chain/chain.ts';
import type { FreezeReason } from '../store/stored-values.ts';
import type { FreezeStore, Ledger, RestoreEvidence } from '../store/ledger.ts';

/** A position of the ledger that a client has read. */
export type KnownPosition = Pick<Head, 'epoch' | 'seq' | 'hash'>;

/** `restored`: the ledger was rewound, and an operator has since continued it in a new epoch. */
export type RollbackStatus = 'holds' | 'rewound' | 'restored';

/**
 * Reports whether the ledger contains a known position.
 * @param head the head of the ledger, read just before.
 * @throws IpledgerError UNAVAILABLE, LEDGER_DAMAGED
 */
export async function detectRollback(
  ledger: Ledger,
  { known, head }: { readonly known: KnownPosition; readonly head: Head },
  signal: AbortSignal,
): Promise<RollbackStatus> {
  if (known.seq === 0) return 'holds';
  if (head.epoch !== known.epoch) return head.epoch > known.epoch ? 'restored' : 'rewound';
  if (known.seq > head.seq) return 'rewound';
  const hash = known.seq === head.seq ? head.hash : await hashAt(ledger, known, signal);
  return hash === known.hash ? 'holds' : 'rewound';
}

/** Returns the known hash for a sealed event that cannot be read: such an event is not checked. */
async function hashAt(ledger: Ledger, { seq, hash }: KnownPosition, signal: AbortSignal): Promise<string | undefined> {
  const lines = await undefinedIfGone(ledger.readEach([seq], signal));
  if (!lines) return hash;
  const [line] = lines;
  return line && parseEvent(line.text).hash;
}

/**
 * Freezes the ledger if the replica's head is missing in it. Returns whether it is missing.
 * @throws IpledgerError UNAVAILABLE, LEDGER_DAMAGED
 */
export async function freezeIfRewound(
  ledger: Ledger,
  freezeStore: FreezeStore,
  { head, by }: { readonly head: Head; readonly by: string },
  signal: AbortSignal,
): Promise<boolean> {
  const found = await ledger.head(signal);
  const isRewound = (await detectRollback(ledger, { known: head, head: found }, signal)) === 'rewound';
  if (isRewound) await freezeStore.freeze(createFreezeRecord(head, by, found), found, signal);
  return isRewound;
}

/** What the documented restore passes to `--bump-revision` (docs/operations.md, deploy/chart). */
export const restoredRevisions = 1_000_000_000;

/**
 * Freezes the ledger if etcd was restored by the documented command since the last event. Each
 * append writes the head, so only a restore, or as many writes of other programs, puts so many
 * revisions after it. It needs no client that has seen later events. The first event after the
 * restore removes this evidence, so the check must come before it. Returns whether it was restored.
 * @throws IpledgerError UNAVAILABLE, LEDGER_DAMAGED
 */
export async function freezeIfRestored(
  ledger: Pick<Ledger, 'head'> & FreezeStore & RestoreEvidence,
  by: string,
  signal: AbortSignal,
): Promise<boolean> {
  if ((await ledger.revisionsSinceHead(signal)) < restoredRevisions) return false;
  const found = await ledger.head(signal);
  await ledger.freeze(createFreezeRecord(found, by, found), found, signal);
  return true;
}

/** Builds the record of a freeze. @param found the head that the ledger has instead */
export function createFreezeRecord({ epoch, seq, hash }: KnownPosition, by: string, found: Head): FreezeReason {
  const foundHead = { epoch: found.epoch, seq: found.seq, hash: found.hash, at: new Date(found.at).toISOString() };
  return { epoch, seq, hash, by, at: new Date().toISOString(), found: foundHead };
}

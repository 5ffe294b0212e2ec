/**
 * Ends fences: an address is served again as soon as its key has the value that follows from the
 * log. So an operator only restores the key, and need not restart anything. Each replica checks its
 * own fences, because a fence exists only in memory.
 */
import { isDeepStrictEqual } from 'node:util';
import { pause } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { ClaimName } from '../../domain/state/claim.ts';
import { claimOf } from '../../domain/state/state.ts';
import { addressKey } from '../store/keys.ts';
import type { StoredKey } from '../store/ledger.ts';
import { readKey } from '../store/read-key.ts';
import { expectedClaimText, readClaim } from '../store/stored-values.ts';
import { readableAgain, type Replica } from './replica.ts';

const defaultIntervalMs = 5_000;
/** The keys that a round reads. Other programs can cause any number of fences: they take turns. */
const maxKeysPerRound = 1_000;

export interface LiftFencesOptions {
  readonly replica: Replica;
  readonly log: Logger;
  /** Set by specs only. */
  readonly intervalMs?: number;
}

/**
 * Runs until the signal is aborted.
 * @throws IpledgerError LEDGER_DAMAGED if a key becomes readable that was not readable when this
 * replica started: the replica has no claim of it, and must load the ledger again.
 */
export async function liftFences({ replica, log, intervalMs }: LiftFencesOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(intervalMs ?? defaultIntervalMs, signal);
    for (const key of [...replica.state.fenced].slice(0, maxKeysPerRound)) {
      if (signal.aborted) return;
      try {
        await liftFence(replica, key, log, signal);
      } catch (error) {
        if (IpledgerError.from(error).code === 'LEDGER_DAMAGED') throw error;
        break; // etcd does not answer: the next round tries again
      }
    }
  }
}

/** The inverse of `claimKey`. */
function nameOf(key: string): ClaimName {
  const at = key.indexOf('/');
  return { subnet: key.slice(0, at), address: key.slice(at + 1) };
}

async function liftFence(replica: Replica, fence: string, log: Logger, signal: AbortSignal): Promise<void> {
  const name = nameOf(fence);
  const found = await readKey(replica.ledger, addressKey(name), signal);
  const { fenced } = replica.state;
  if (!fenced.has(fence)) return; // a later event ended it during the read
  if (replica.isUnreadable(name)) {
    if (found && readClaim(found.key, found.text).claim) throw readableAgain(name);
  } else if (isImplied(replica, name, found)) {
    replica.serveAgain(name, BigInt(found?.modRevision ?? 0));
    log.info(name, 'this address is served again: its key has the value that the log implies');
    return;
  }
  // Moves the fence to the end of the set, so that all fences take turns.
  fenced.delete(fence);
  fenced.add(fence);
}

/** Whether a key has the claim of the state, which does not change while the address is fenced. */
function isImplied({ state }: Replica, { subnet, address }: ClaimName, found: StoredKey | undefined): boolean {
  const claim = claimOf(state, subnet, address);
  if (!claim || !found) return claim === undefined && found === undefined;
  try {
    return isDeepStrictEqual(JSON.parse(found.text), JSON.parse(expectedClaimText(found.text, claim)));
  } catch {
    return false;
  }
}

/** Loads a ledger with all its claims at once. */
import type { Snapshot } from '../../domain/state/snapshot.ts';
import type { ClaimName } from '../../domain/state/claim.ts';
import type { Ledger, LoadedClaim, LoadedSnapshot, Revision } from '../store/ledger.ts';

export interface WholeSnapshot extends Omit<LoadedSnapshot, 'claims'>, Snapshot {
  readonly revisions: readonly (ClaimName & { readonly revision: Revision })[];
  /** The address keys whose value is not a claim. */
  readonly unreadable: readonly ClaimName[];
}

/** @throws what Ledger.load throws */
export async function loadAll(ledger: Pick<Ledger, 'load'>, signal: AbortSignal): Promise<WholeSnapshot> {
  const { claims, ...rest } = await ledger.load(signal);
  const found: LoadedClaim[] = [];
  for await (const page of claims) found.push(...page);
  return {
    ...rest,
    claims: found.flatMap(({ name, claim }) => (claim ? [{ ...name, claim }] : [])),
    revisions: found.flatMap(({ name, claim, revision }) => (claim ? [{ ...name, revision }] : [])),
    unreadable: found.flatMap(({ name, claim }) => (claim ? [] : [name])),
  };
}

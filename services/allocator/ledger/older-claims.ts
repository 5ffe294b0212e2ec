/** The networks of claims of retired subnets whose keys were written before claims named them: only the log tells them. */
import { addressesOf, type Sequenced } from '../domain/event.ts';
import { evolve } from '../domain/evolve.ts';
import { claimKey, Journal } from '../domain/journal.ts';
import type { Snapshot } from '../domain/restore.ts';
import { claimOf, initialState } from '../domain/state.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import { parseEvent } from './chain.ts';
import type { Ledger, LoadedSnapshot } from './ledger.ts';

/**
 * The snapshot with these claims completed. Reads the log once, if there are any. Where it cannot be read, as below the floor
 * without the archive, their networks stay unknown, and they count in their own subnet alone.
 * @throws IpledgerError UNAVAILABLE; AbortError.
 */
export async function withNetworks<Found extends Pick<LoadedSnapshot, 'head' | keyof Snapshot>>(
  snapshot: Found,
  ledger: Pick<Ledger, 'read'>,
  { signal, log }: { readonly signal: AbortSignal; readonly log?: Pick<Logger, 'info' | 'warn'> | undefined },
): Promise<Found> {
  const inForce = new Set(snapshot.subnets.map(({ name }) => name));
  const older = snapshot.claims.filter(({ subnet, claim }) => claim.networks.length === 0 && !inForce.has(subnet));
  if (older.length === 0) return snapshot;
  log?.info({ claims: older.length }, 'the log is read once for the networks of claims that an older version wrote');
  const wanted = new Set(older.map((name) => claimKey(name)));
  const says = (event: Sequenced): boolean =>
    event.type === 'SubnetConfigured' ||
    event.type === 'SubnetRetired' ||
    addressesOf(event).some((address) => wanted.has(claimKey({ subnet: event.subnet, address })));
  // Only what is said of these claims and of subnets: the same of them as the fold of all.
  const state = initialState();
  try {
    for await (const lines of ledger.read(1, signal))
      for (const { text } of lines) {
        const { sequenced } = parseEvent(text);
        if (sequenced.seq <= snapshot.head.seq && says(sequenced)) evolve(state, sequenced, new Journal());
      }
  } catch (error) {
    const { kind, message: reason } = IpledgerError.from(error);
    if (kind === 'transient' || signal.aborted) throw error;
    log?.warn(
      { claims: older.length, reason },
      'the log cannot be read: these claims count in their own subnets alone',
    );
    return snapshot;
  }
  const claims = snapshot.claims.map((each) => {
    if (!wanted.has(claimKey(each))) return each;
    return { ...each, claim: { ...each.claim, networks: claimOf(state, each.subnet, each.address)?.networks ?? [] } };
  });
  return { ...snapshot, claims };
}

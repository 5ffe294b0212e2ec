/** Adds the networks to claims of retired Subnets whose keys an early version wrote without them. Only the log has them. */
import { type Sequenced } from '../../domain/events/event.ts';
import { addressesOf } from '../../domain/events/registry.ts';
import { evolve } from '../../domain/state/evolve.ts';
import { permanent } from '../../domain/state/undo-log.ts';
import { claimKey } from '../../domain/state/claim.ts';
import type { Snapshot } from '../../domain/state/snapshot.ts';
import { claimOf, initialRecord } from '../../domain/state/state.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { parseEvent } from '../chain/chain.ts';
import type { Ledger, LoadedSnapshot } from '../store/ledger.ts';

/**
 * Returns the snapshot with complete claims. It reads the log once if a claim lacks its networks. If the log is not readable (the
 * events are sealed, and there is no archive), the networks stay unknown, and the claims count only in their own Subnet.
 * @throws IpledgerError UNAVAILABLE; AbortError.
 */
export async function backfillNetworks<Found extends Pick<LoadedSnapshot, 'head' | keyof Snapshot>>(
  snapshot: Found,
  ledger: Pick<Ledger, 'read'>,
  { signal, log }: { readonly signal: AbortSignal; readonly log?: Pick<Logger, 'info' | 'warn'> | undefined },
): Promise<Found> {
  const configured = new Set(snapshot.subnets.map(({ name }) => name));
  const incomplete = snapshot.claims.filter(
    ({ subnet, claim }) => claim.networks.length === 0 && !configured.has(subnet),
  );
  if (incomplete.length === 0) return snapshot;
  log?.info(
    { claims: incomplete.length },
    'reading the log once, for the networks of claims that an early version wrote',
  );
  const keys = new Set(incomplete.map((name) => claimKey(name)));
  const isRelevant = (event: Sequenced): boolean =>
    event.type === 'SubnetConfigured' ||
    event.type === 'SubnetRetired' ||
    addressesOf(event).some((address) => keys.has(claimKey({ subnet: event.subnet, address })));
  // A fold of only the events of these claims and of Subnets gives the same claims as a fold of all events.
  const state = initialRecord();
  try {
    for await (const lines of ledger.read(1, signal))
      for (const { text } of lines) {
        const { sequenced } = parseEvent(text);
        if (sequenced.seq <= snapshot.head.seq && isRelevant(sequenced)) evolve(state, sequenced, permanent);
      }
  } catch (error) {
    const { kind, message: reason } = IpledgerError.from(error);
    if (kind === 'transient' || signal.aborted) throw error;
    log?.warn(
      { claims: incomplete.length, reason },
      'reading the log failed: claims without networks count only in their own Subnet',
    );
    return snapshot;
  }
  const claims = snapshot.claims.map((each) => {
    if (!keys.has(claimKey(each))) return each;
    return { ...each, claim: { ...each.claim, networks: claimOf(state, each.subnet, each.address)?.networks ?? [] } };
  });
  return { ...snapshot, claims };
}

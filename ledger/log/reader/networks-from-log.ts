/** Finds the networks of retired Subnets' claims that an early version stored without networks. */
import { type Sequenced } from '../../domain/events/event.ts';
import { addressesOf, otherKeyOf, evolve } from '../../domain/events/registry.ts';
import { permanent } from '../../domain/state/undo-log.ts';
import { claimKey, type ClaimName } from '../../domain/state/claim.ts';
import { claimOf, initialRecord } from '../../domain/state/state.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { Head } from '../chain/chain.ts';
import type { Ledger } from '../store/ledger.ts';
import { parseLine } from '../store/stored-line.ts';

/** The networks of a claim, from the log. */
interface ClaimNetworks {
  readonly name: ClaimName;
  readonly networks: readonly string[];
}

/**
 * Returns the networks of claims that lack them. Reads the log once, or not at all for an empty
 * list. If the log is not readable (the events are sealed, and there is no archive), the networks
 * stay unknown, and the claims count only in their own Subnet.
 * @throws IpledgerError UNAVAILABLE; AbortError.
 */
export async function networksFromLog(
  incomplete: readonly ClaimName[],
  head: Head,
  ledger: Pick<Ledger, 'read'>,
  { signal, log }: { readonly signal: AbortSignal; readonly log?: Pick<Logger, 'info' | 'warn'> | undefined },
): Promise<readonly ClaimNetworks[]> {
  if (incomplete.length === 0) return [];
  log?.info(
    { claims: incomplete.length },
    'reading the log once, for the networks of claims that an early version wrote',
  );
  const keys = new Set(incomplete.map((name) => claimKey(name)));
  const isRelevant = (event: Sequenced): boolean =>
    otherKeyOf(event)?.kind === 'subnets' ||
    addressesOf(event).some((address) => keys.has(claimKey({ subnet: event.subnet, address })));
  // Folds only the events of these claims and of Subnets. The claims are the same as after a fold
  // of all events.
  const state = initialRecord();
  try {
    for await (const lines of ledger.read(1, signal))
      for (const line of lines) {
        const { sequenced } = parseLine(line);
        if (sequenced.seq <= head.seq && isRelevant(sequenced)) evolve(state, sequenced, permanent);
      }
  } catch (error) {
    const { kind, message: reason } = IpledgerError.from(error);
    if (kind === 'transient' || signal.aborted) throw error;
    log?.warn(
      { claims: incomplete.length, reason },
      'reading the log failed: claims without networks count only in their own Subnet',
    );
    return [];
  }
  return incomplete.flatMap((name) => {
    const { networks = [] } = claimOf(state, name.subnet, name.address) ?? {};
    return networks.length === 0 ? [] : [{ name, networks }];
  });
}

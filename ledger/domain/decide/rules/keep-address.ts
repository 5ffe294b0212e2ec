/** Decides whether a Pod may keep an address that an earlier Pod of its name holds. */
import { otherClaims } from '../../state/claims-on-network.ts';
import { isInPool } from '../../state/pool.ts';
import { claimOf, type ConfiguredSubnet, type State } from '../../state/state.ts';
import { isPoolOpenTo, poolOfAddress } from './tenancy.ts';

/** The Pod that would keep the address. */
export interface Keeper {
  /** The requested pool; '' for none. */
  readonly pool: string;
  /** The owners whose reserved addresses the Pod may take. */
  readonly entitlements: ReadonlySet<string>;
  readonly namespace: string;
}

/**
 * The address must be in the requested pool. Its networks must have no quarantine of the address,
 * and no reservation for another owner. The namespace must be allowed to use the address's pool,
 * unless the address is reserved for the Pod.
 */
export function mayKeepAddress(
  state: State,
  { subnet: { name }, spaces }: ConfiguredSubnet,
  address: string,
  { pool, entitlements, namespace }: Keeper,
): boolean {
  const own = claimOf(state, name, address);
  const others = (own?.networks ?? []).flatMap((network) => otherClaims(state, network, address, name));
  const isUnrestricted = [own, ...others.map(({ claim }) => claim)].every(
    (claim) => !claim?.quarantine && (!claim?.reservation || entitlements.has(claim.reservation.reservedFor)),
  );
  const isReserved = own?.reservation !== undefined;
  return (
    isInPool(state, pool, address) &&
    isUnrestricted &&
    (isReserved || isPoolOpenTo(state, poolOfAddress(spaces, address), namespace))
  );
}

/** Creates, changes and deletes pools. Pods keep the addresses that they hold. */
import type { ApplyPool, RetirePool } from '../commands/command.ts';
import { isNamespace, isObjectName } from '../commands/names.ts';
import type { Event } from '../events/event.ts';
import type { PoolSpec } from '../values/configuration.ts';
import { lastAddressOf } from '../addresses/address.ts';
import { difference, intersection, formatRanges } from '../addresses/interval.ts';
import { normalisePool, poolIntervals } from '../state/pool.ts';
import { Refused } from '../commands/refusal.ts';
import type { State } from '../state/state.ts';
import type { Subnet } from '../state/subnet.ts';

/** @throws Refused POOL_INVALID, POOL_CONFLICT, SUBNET_UNKNOWN */
export function applyPool(state: State, { name, spec: requested, source }: ApplyPool): Event[] {
  if (!isObjectName(name))
    throw new Refused(
      'POOL_INVALID',
      `"${name}" is not a valid ippool name: use lower-case letters, digits, "-" and "."`,
    );
  if (requested.subnet === '') throw new Refused('POOL_INVALID', `ippool ${name} has no subnet: set spec.subnet`);
  const spec = normalisePool(name, requested);
  if ('problems' in spec) throw new Refused('POOL_INVALID', spec.problems.join('; '));
  const known = state.pools.get(name);
  if (known && JSON.stringify(known.spec) === JSON.stringify(spec)) return [];
  if (known && known.spec.subnet !== spec.subnet)
    throw new Refused(
      'POOL_CONFLICT',
      `ippool ${name} belongs to subnet ${known.spec.subnet} and can't move to ${spec.subnet}: delete it, or use another name`,
    );
  const alien = spec.namespaces.find((namespace) => !isNamespace(namespace));
  if (alien !== undefined)
    throw new Refused('POOL_INVALID', `ippool ${name}: "${alien}" is not a valid namespace: correct spec.namespaces`);
  const configured = state.subnets.get(spec.subnet);
  if (!configured)
    throw new Refused(
      'SUBNET_UNKNOWN',
      `NoSubnet: subnet ${spec.subnet} does not exist in IPAM: ippool ${name} waits for it`,
    );
  refuseBeyond(configured.subnet, name, spec);
  refuseShared(state, name, spec);
  return [{ type: 'PoolConfigured', subnet: spec.subnet, data: { pool: name, spec, ...(source && { source }) } }];
}

/** Does nothing for an unknown pool. */
export function retirePool(state: State, { name }: RetirePool): Event[] {
  const pool = state.pools.get(name);
  return pool ? [{ type: 'PoolRetired', subnet: pool.spec.subnet, data: { pool: name } }] : [];
}

/** Rejects addresses outside the subnet. If it shrinks later, they stay but are not allocated. */
function refuseBeyond(subnet: Subnet, name: string, spec: PoolSpec): void {
  const beyond = ([4, 6] as const).flatMap((family) => {
    const cidr = subnet.families.find((each) => each.family === family)?.cidr;
    const inside = cidr ? [{ first: cidr.base, last: lastAddressOf(cidr) }] : [];
    const rest = formatRanges(family, difference(poolIntervals(spec, family), inside));
    return rest === '' ? [] : [rest];
  });
  if (beyond.length > 0)
    throw new Refused(
      'POOL_INVALID',
      `ippool ${name} is not a part of subnet ${subnet.name} (${subnet.spec.cidrBlock}): ${beyond.join(',')} is outside. Correct spec.ips`,
    );
}

/** Rejects addresses of another pool: an address belongs to at most one pool. */
function refuseShared(state: State, name: string, spec: PoolSpec): void {
  for (const other of state.pools.values()) {
    if (other.name === name || other.spec.subnet !== spec.subnet) continue;
    const shared = ([4, 6] as const)
      .map((family) =>
        formatRanges(family, intersection(poolIntervals(spec, family), poolIntervals(other.spec, family))),
      )
      .filter((text) => text !== '');
    if (shared.length > 0)
      throw new Refused(
        'POOL_CONFLICT',
        `ippool ${name} has conflict IPs with ippool ${other.name}: ${shared.join(',')}`,
      );
  }
}

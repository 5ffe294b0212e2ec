/** Pools come, change and go. Whoever holds an address keeps it; where released ones stand in the order of reuse is kept too. */
import type { ApplyPool, RetirePool } from '../command.ts';
import type { Event, PoolSpec } from '../event.ts';
import { common, formatRanges } from '../interval.ts';
import { normalisePool, rangesOf } from '../pool.ts';
import { Refused } from '../refusal.ts';
import type { State } from '../state.ts';

/** @throws Refused POOL_INVALID, POOL_CONFLICT, SUBNET_UNKNOWN */
export function applyPool(state: State, { name, spec: requested, source }: ApplyPool): Event[] {
  if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name))
    throw new Refused(
      'POOL_INVALID',
      `"${name}" is not a valid ippool name: use lower-case letters, digits, "-" and "."`,
    );
  if (requested.subnet === '') throw new Refused('POOL_INVALID', `ippool ${name} names no subnet`);
  const spec = normalisePool(name, requested);
  if ('problems' in spec) throw new Refused('POOL_INVALID', spec.problems.join('; '));
  const known = state.pools.get(name);
  if (known && JSON.stringify(known.spec) === JSON.stringify(spec)) return [];
  if (known && known.spec.subnet !== spec.subnet)
    throw new Refused(
      'POOL_CONFLICT',
      `ippool ${name} belongs to subnet ${known.spec.subnet} and can't move to ${spec.subnet}: delete it, or take another name`,
    );
  if (!state.subnets.has(spec.subnet))
    throw new Refused(
      'SUBNET_UNKNOWN',
      `NoSubnet: subnet ${spec.subnet} does not exist in IPAM: ippool ${name} waits for it`,
    );
  refuseShared(state, name, spec);
  return [{ type: 'PoolConfigured', subnet: spec.subnet, data: { pool: name, spec, ...(source && { source }) } }];
}

/** One that is unknown is retired already. */
export function retirePool(state: State, { name }: RetirePool): Event[] {
  const pool = state.pools.get(name);
  return pool ? [{ type: 'PoolRetired', subnet: pool.spec.subnet, data: { pool: name } }] : [];
}

/** An address belongs to one pool at most. */
function refuseShared(state: State, name: string, spec: PoolSpec): void {
  for (const other of state.pools.values()) {
    if (other.name === name || other.spec.subnet !== spec.subnet) continue;
    const shared = ([4, 6] as const)
      .map((family) => formatRanges(family, common(rangesOf(spec, family), rangesOf(other.spec, family))))
      .filter((text) => text !== '');
    if (shared.length > 0)
      throw new Refused(
        'POOL_CONFLICT',
        `ippool ${name} has conflict IPs with ippool ${other.name}: ${shared.join(',')}`,
      );
  }
}

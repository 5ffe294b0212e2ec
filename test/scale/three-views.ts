/**
 * Compares the addresses in three independent views: the keys in etcd, the IP objects, the Pod
 * annotations.
 */
import { expect } from 'chai';
import { findInconsistencies } from '../e2e/support/consistency.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type SystemSnapshot, readSystemSnapshot } from '../e2e/support/system-snapshot.ts';
import { textOf } from '../harness/json.ts';
import type { Stack } from '../harness/stack.ts';
import type { PodBatch } from './pod-batch.ts';

/**
 * The time until the Subnet status, which is written last, is current. A snapshot of thousands of
 * Pods takes long.
 */
const timeoutMs = 120_000;

/** Waits until all views agree. Returns that snapshot. */
export function waitForAgreement(stack: Stack, signal: AbortSignal): Promise<SystemSnapshot> {
  return eventually(async () => {
    const snapshot = await readSystemSnapshot(stack, signal);
    expect(findInconsistencies(snapshot)).to.deep.equal([]);
    return snapshot;
  }, timeoutMs);
}

/**
 * Expects that each Pod of the batch has one address in each of its networks, and no address
 * appears twice in a view.
 */
export function expectAllServed(snapshot: SystemSnapshot, { names, networks }: PodBatch): void {
  const views = [fromClaims(snapshot), fromIpObjects(snapshot), fromAnnotations(snapshot, networks)];
  for (const addresses of views) {
    expect(addresses).to.have.length(names.length * networks.length);
    expect(new Set(addresses).size).to.equal(addresses.length);
  }
  const [claims, ...others] = views.map((addresses) => addresses.toSorted());
  for (const view of others) expect(view).to.deep.equal(claims);
}

/** Expects that no view contains an allocation. */
export function expectNothingLeft({ allocations, claims, ips, pods, subnets }: SystemSnapshot): void {
  expect({ allocations, ips, pods }).to.deep.equal({ allocations: [], ips: [], pods: [] });
  expect([...claims.values()].filter(({ alloc }) => alloc !== undefined)).to.deep.equal([]);
  for (const { name, usage } of subnets)
    for (const { inUse, inUseRange } of usage)
      expect({ name, inUse, inUseRange }).to.include({ inUse: '0', inUseRange: '' });
}

/** Returns "subnet/address" of each claim key that has a holder. */
const fromClaims = ({ claims }: SystemSnapshot): string[] =>
  [...claims].flatMap(([name, { alloc }]) => (alloc === undefined ? [] : [name]));

const fromIpObjects = ({ ips }: SystemSnapshot): string[] =>
  ips.map(({ spec }) => `${textOf(spec?.['subnet'])}/${textOf(spec?.['ipAddress'])}`);

/** Returns the addresses in annotations. Each Subnet has the name of its network. */
const fromAnnotations = ({ pods }: SystemSnapshot, networks: readonly string[]): string[] =>
  pods.flatMap(({ metadata: { annotations = {} } }) =>
    networks.map((network) => `${network}/${annotations[`${network}.default.kubernetes.io/ip_address`]}`),
  );

/** The same addresses, seen from three sides that know nothing of one another: raw in etcd, as IP objects, on the Pods. */
import { expect } from 'chai';
import { disagreements } from '../e2e/agreement.ts';
import { eventually } from '../e2e/eventually.ts';
import { type Picture, takePicture } from '../e2e/picture.ts';
import type { Stack } from '../harness/stack.ts';
import type { Crowd } from './crowd.ts';

/** A Subnet's status comes last, and a picture of thousands takes its time. */
const patienceMs = 120_000;

/** A picture on which all agree; waits for it. */
export function agreedPicture(stack: Stack, signal: AbortSignal): Promise<Picture> {
  return eventually(async () => {
    const picture = await takePicture(stack, signal);
    expect(disagreements(picture)).to.deep.equal([]);
    return picture;
  }, patienceMs);
}

/** Each Pod of the crowd has one address of each of its networks, and no address is there twice, whoever is asked. */
export function expectAllServed(picture: Picture, { names, networks }: Crowd): void {
  const sides = [fromClaims(picture), fromIpObjects(picture), fromAnnotations(picture, networks)];
  for (const addresses of sides) {
    expect(addresses).to.have.length(names.length * networks.length);
    expect(new Set(addresses).size).to.equal(addresses.length);
  }
  const [claims, ...others] = sides.map((addresses) => addresses.toSorted());
  for (const side of others) expect(side).to.deep.equal(claims);
}

/** Nobody holds anything, and nothing says so. */
export function expectNothingLeft({ allocations, claims, ips, pods, subnets }: Picture): void {
  expect({ allocations, ips, pods }).to.deep.equal({ allocations: [], ips: [], pods: [] });
  expect([...claims.values()].filter(({ alloc }) => alloc !== undefined)).to.deep.equal([]);
  for (const { name, usage } of subnets)
    for (const { inUse, inUseRange } of usage)
      expect({ name, inUse, inUseRange }).to.include({ inUse: '0', inUseRange: '' });
}

/** "subnet/address" of each claim key that has a holder. */
const fromClaims = ({ claims }: Picture): string[] =>
  [...claims].flatMap(([name, { alloc }]) => (alloc === undefined ? [] : [name]));

const fromIpObjects = ({ ips }: Picture): string[] =>
  ips.map(({ spec }) => `${String(spec?.['subnet'])}/${String(spec?.['ipAddress'])}`);

/** Subnets are named as their networks. */
const fromAnnotations = ({ pods }: Picture, networks: readonly string[]): string[] =>
  pods.flatMap(({ metadata: { annotations = {} } }) =>
    networks.map((network) => `${network}/${annotations[`${network}.default.kubernetes.io/ip_address`]}`),
  );

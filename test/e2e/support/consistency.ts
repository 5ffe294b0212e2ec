/**
 * Checks consistency: claims in etcd, allocations in the ledger, Pod annotations, IP objects,
 * Subnet status and the living Pods show the same addresses, and each address has one holder.
 * Reports each inconsistency in one sentence.
 */
import { BlockList, isIPv4 } from 'node:net';
import { findAddressesInUse } from '../../../cli/comparison/compare-ledger.ts';
import { ipObjectNames } from '../../../lib/kubernetes/ip-object-name.ts';
import { bothFamilies } from '../../../lib/net/ip.ts';
import type { Allocation, SubnetSpec } from '../../../proto/generated/ipledger.ts';
import { eventually } from './eventually.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import { openSnapshotReader, type SystemSnapshot, type SnapshotSource } from './system-snapshot.ts';

/** The time within which the views must agree, and the additional time for the last read. */
const defaultTimeoutMs = 60_000;
const lastReadMs = 30_000;

/**
 * Waits until all views agree.
 * @throws Error with every inconsistency that remains after the timeout
 */
export async function expectConsistency(stack: SnapshotSource, timeoutMs = defaultTimeoutMs): Promise<void> {
  const reader = openSnapshotReader(stack, AbortSignal.timeout(timeoutMs + lastReadMs));
  try {
    await eventually(async () => {
      const found = findInconsistencies(await reader.read());
      if (found.length > 0) throw new Error(`the views do not agree:\n  - ${found.join('\n  - ')}`);
    }, timeoutMs);
  } finally {
    reader.close();
  }
}

/** Returns all inconsistencies of a snapshot; empty if all views agree. */
export function findInconsistencies(snapshot: SystemSnapshot): string[] {
  return [findDuplicates, compareClaims, comparePods, compareIpObjects, findStrayAnnotations, compareCounts].flatMap(
    (check) => check(snapshot),
  );
}

const podOf = ({ attachment }: Allocation): string => `${attachment?.namespace}/${attachment?.pod}`;
const textOf = ({ addresses }: Allocation): string => addresses.map(({ address }) => address).join(',');
const describeAllocation = (allocation: Allocation): string =>
  `${textOf(allocation)} of Pod ${podOf(allocation)} (uid ${allocation.podUid}, ${allocation.attachment?.provider}, event ${allocation.seq})`;

/** Finds addresses of a Subnet or network, attachments, and MACs of a Subnet with two holders. */
function findDuplicates({ allocations }: SystemSnapshot): string[] {
  const holders = new Map<string, Allocation>();
  const found: string[] = [];
  for (const allocation of allocations) {
    const { attachment, subnet, mac } = allocation;
    const keys = allocation.addresses.flatMap(({ address }) => [
      `address ${address} of subnet ${subnet}`,
      `address ${address} on network ${attachment?.provider}`,
    ]);
    keys.push(`attachment ${attachment?.ordinal} to ${attachment?.provider} of Pod ${podOf(allocation)}`);
    if (mac !== '') keys.push(`MAC ${mac} in subnet ${subnet}`);
    for (const key of keys) {
      const other = holders.get(key);
      if (other)
        found.push(`${key} is held twice: by ${describeAllocation(other)} and by ${describeAllocation(allocation)}`);
      holders.set(key, allocation);
    }
  }
  return found;
}

/** Finds allocations without their claims in etcd, and claims without their allocation. */
function compareClaims({ allocations, claims: keys }: SystemSnapshot): string[] {
  const found: string[] = [];
  const known = new Set<string>();
  for (const allocation of allocations)
    for (const { address } of allocation.addresses) {
      const name = `${allocation.subnet}/${address}`;
      known.add(name);
      const key = keys.get(name);
      if (!key) found.push(`etcd has no key addr/${name} for ${describeAllocation(allocation)}`);
      else if (key.alloc !== allocation.seq || key.holder?.uid !== allocation.podUid)
        found.push(`etcd's addr/${name} is held by ${holderOf(key)}; the ledger has ${describeAllocation(allocation)}`);
      else if (containers(key.bindings) !== containers(allocation.bindings))
        found.push(
          `etcd's addr/${name} is bound to ${containers(key.bindings)}; the ledger has ${containers(allocation.bindings)}`,
        );
    }
  for (const [name, key] of keys)
    if (key.alloc !== undefined && !known.has(name))
      found.push(`etcd's addr/${name} is held by ${holderOf(key)}; the ledger has no such allocation`);
  return found;
}

function holderOf({
  alloc,
  holder,
}: {
  alloc?: number;
  holder?: { uid: string; attachment: { pod: string } };
}): string {
  return alloc === undefined ? 'no Pod' : `Pod ${holder?.attachment.pod} (uid ${holder?.uid}, event ${alloc})`;
}

function containers(bindings: readonly { containerId: string; interface: string }[]): string {
  return bindings.map(({ containerId, interface: name }) => `${containerId}/${name}`).join(', ') || 'no container';
}

/** Finds allocations whose Pod does not exist, is not alive, or shows another allocation. */
function comparePods({ allocations, pods, subnets }: SystemSnapshot): string[] {
  const specs = new Map(subnets.map(({ name, spec }) => [name, spec]));
  const byName = new Map(pods.map((pod) => [nameOf(pod), pod]));
  return allocations.flatMap((allocation) => {
    const pod = byName.get(podOf(allocation));
    if (!pod) return [`${describeAllocation(allocation)} is held, and there is no such Pod`];
    if (pod.metadata.uid !== allocation.podUid)
      return [`${describeAllocation(allocation)} is held, and the Pod of that name has uid ${pod.metadata.uid}`];
    if (!isAlive(pod))
      return [`${describeAllocation(allocation)} is held, and the Pod has ended (${textAt(pod.status, 'phase')})`];
    return compareAnnotations(allocation, specs.get(allocation.subnet), pod.metadata.annotations ?? {});
  });
}

function compareAnnotations(
  allocation: Allocation,
  spec: SubnetSpec | undefined,
  annotations: Readonly<Record<string, string>>,
): string[] {
  const expected = Object.entries(annotationsOf(allocation, spec));
  return expected.flatMap(([key, value]) => {
    const present = annotations[key] ?? '';
    const same = key.includes('/mac_address') ? present.toLowerCase() === value : present === value;
    return same ? [] : [`annotation ${key} of Pod ${podOf(allocation)} is "${present}", and should be "${value}"`];
  });
}

/**
 * Returns the annotations of an allocation, with Kube-OVN's keys. A further attachment of a
 * provider has keys with its interface once the interface is bound.
 */
function annotationsOf(allocation: Allocation, spec: SubnetSpec | undefined): Record<string, string> {
  const { addresses, mac, interface: name, attachment } = allocation;
  const provider = `${attachment?.provider}.kubernetes.io`;
  if (attachment?.ordinal === 0)
    return {
      [`${provider}/ip_address`]: textOf(allocation),
      [`${provider}/mac_address`]: mac,
      [`${provider}/cidr`]: bothFamilies(
        addresses.map(({ cidr }) => cidr),
        spec?.cidrBlock,
      ),
      [`${provider}/gateway`]: bothFamilies(
        addresses.map(({ gateway }) => gateway),
        spec?.gateway,
      ),
      [`${provider}/allocated`]: 'true',
    };
  if (name === '') return {};
  const prefix = `${attachment?.provider.replace(/\.ovn$/, '')}.kubernetes.io`;
  return { [`${prefix}/ip_address.${name}`]: textOf(allocation), [`${prefix}/mac_address.${name}`]: mac };
}

/** Finds allocations without their IP object, and IP objects without their allocation. */
function compareIpObjects({ allocations, ips }: SystemSnapshot): string[] {
  const found: string[] = [];
  const byName = new Map(ips.map((ip) => [ip.metadata.name, ip]));
  const names = ipObjectNames(
    allocations.map(({ attachment }) => attachment ?? { pod: '', namespace: '', provider: '', ordinal: 0 }),
    [],
  );
  for (const [index, allocation] of allocations.entries()) {
    const name = names[index] ?? '';
    const object = byName.get(name);
    byName.delete(name);
    if (!object) {
      found.push(`there is no IP object ${name} for ${describeAllocation(allocation)}`);
      continue;
    }
    const ipAddress = textOf(allocation);
    const { attachment, subnet, mac: macAddress } = allocation;
    const spec = { podName: attachment?.pod, namespace: attachment?.namespace, subnet, ipAddress, macAddress };
    for (const [field, value] of Object.entries(spec))
      if (object.spec?.[field] !== value)
        found.push(
          `IP object ${name} has ${field} ${JSON.stringify(object.spec?.[field])}, and should have "${value}"`,
        );
    if (object.metadata.annotations?.['ipledger.io/allocation'] !== String(allocation.seq))
      found.push(`IP object ${name} shows another allocation than event ${allocation.seq}`);
  }
  for (const [name, { spec }] of byName)
    found.push(`IP object ${name} shows ${textAt(spec, 'ipAddress')}, which no Pod holds`);
  return found;
}

/**
 * Finds Pods that show an allocation that they do not hold. A terminated Pod may still show earlier
 * ones.
 */
function findStrayAnnotations({ allocations, pods }: SystemSnapshot): string[] {
  // Includes keys with an interface, which Kube-OVN-type NICs of one network also have.
  const held = new Set(
    allocations.flatMap(({ podUid, attachment, interface: name, bindings }) =>
      ['', `.${name}`, ...bindings.map((bound) => `.${bound.interface}`)].map(
        (suffix) => `${podUid} ${attachment?.provider}${suffix}`,
      ),
    ),
  );
  return pods.filter(isAlive).flatMap((pod) =>
    Object.entries(pod.metadata.annotations ?? {}).flatMap(([key, value]) => {
      const provider = /^(.+)\.kubernetes\.io\/allocated$/.exec(key)?.[1];
      if (provider === undefined || value !== 'true' || held.has(`${pod.metadata.uid} ${provider}`)) return [];
      return [`annotation ${key} of Pod ${nameOf(pod)} shows an address, and the Pod holds none`];
    }),
  );
}

/** Finds counts in Subnet status or ledger that differ from the number of allocated addresses. */
function compareCounts({ allocations, subnets, subnetObjects }: SystemSnapshot): string[] {
  const heldIn = findAddressesInUse(allocations, subnets);
  return subnets.flatMap(({ name, spec, usage }) => {
    const found: string[] = [];
    const status = subnetObjects.find(({ metadata }) => metadata.name === name)?.status;
    const held = heldIn(name);
    for (const { family, total, inUse, reserved, available, inUseRange, availableRange } of usage) {
      const own = held.filter((address) => isIPv4(address) === (family === 4) && !isExcluded(address, spec));
      if (own.length + Number(reserved) !== Number(inUse))
        found.push(
          `the ledger counts ${inUse} IPv${family} addresses of subnet ${name} in use; ${own.length} are held, ${reserved} reserved`,
        );
      if (BigInt(available) !== BigInt(total) - BigInt(inUse))
        found.push(`subnet ${name}, IPv${family}: ${available} available and ${inUse} in use do not make ${total}`);
      if (!status) continue;
      const expected = {
        availableIPs: asStatus(available),
        usingIPs: asStatus(inUse),
        availableIPrange: availableRange,
        usingIPrange: inUseRange,
      };
      for (const [field, value] of Object.entries(expected)) {
        const actual = status[`v${family}${field}`];
        if (actual !== value && !isTruncated(actual, value))
          found.push(
            `status.v${family}${field} of Subnet ${name} is ${JSON.stringify(actual)}, and should be "${value}"`,
          );
      }
    }
    return found;
  });
}

/** Whether a status ends a long list of ranges with "...". */
function isTruncated(actual: unknown, full: string | number): boolean {
  if (typeof actual !== 'string' || typeof full !== 'string' || !actual.endsWith(',...')) return false;
  return full.startsWith(actual.slice(0, -'...'.length));
}

/** Reads a count as JSON.parse does. The API server's maximum is 2^63 - 1. */
function asStatus(count: string): number {
  const [exact, max] = [BigInt(count), 2n ** 63n - 1n];
  return Number(exact < max ? exact : max);
}

/** Whether an address is excluded: a Pod can request one by name, but no count includes it. */
function isExcluded(address: string, spec: SubnetSpec | undefined): boolean {
  const excluded = new BlockList();
  for (const range of spec?.excludeIps ?? []) {
    const [first = '', last = first] = range.split('..');
    excluded.addRange(first, last, isIPv4(first) ? 'ipv4' : 'ipv6');
  }
  return excluded.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

/** Whether a Pod needs addresses: until its containers have ended and will not restart. */
function isAlive({ spec, status }: KubeObject): boolean {
  const [phase, policy] = [textAt(status, 'phase'), textAt(spec, 'restartPolicy')];
  return !(phase === 'Succeeded' && policy !== 'Always') && !(phase === 'Failed' && policy === 'Never');
}

function textAt(fields: Readonly<Record<string, unknown>> | undefined, key: string): string {
  const value = fields?.[key];
  return typeof value === 'string' ? value : '';
}

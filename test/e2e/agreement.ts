/**
 * Do all agree? Claims in etcd, the ledger's allocations, Pod annotations, IP objects, Subnet status and the Pods that
 * live show the same addresses, each held once, none without its counterpart. Said in words, one sentence a disagreement.
 */
import { BlockList, isIPv4 } from 'node:net';
import { heldBySubnet } from '../../cli/check/ledger-alone.ts';
import { ipName } from '../../lib/ip-name.ts';
import type { Allocation, SubnetSpec } from '../../proto/ipledger.ts';
import { eventually } from './eventually.ts';
import type { KubeObject } from './kubernetes.ts';
import { photographerOf, type Picture, type Pictured } from './picture.ts';

/** How long they may take to agree, and how much longer the last look at them may. */
const usualPatienceMs = 60_000;
const lastLookMs = 30_000;

/**
 * Waits until all agree.
 * @throws Error that lists every disagreement, when some are left after a while.
 */
export async function expectAgreement(stack: Pictured, patienceMs = usualPatienceMs): Promise<void> {
  const photographer = photographerOf(stack, AbortSignal.timeout(patienceMs + lastLookMs));
  try {
    await eventually(async () => {
      const found = disagreements(await photographer.take());
      if (found.length > 0) throw new Error(`they do not agree:\n  - ${found.join('\n  - ')}`);
    }, patienceMs);
  } finally {
    photographer.close();
  }
}

/** Everything that does not fit in a picture; empty when all agree. */
export function disagreements(picture: Picture): string[] {
  return [heldTwice, claims, podsOfAllocations, ipObjects, strayAnnotations, counts].flatMap((check) => check(picture));
}

const podOf = ({ attachment }: Allocation): string => `${attachment?.namespace}/${attachment?.pod}`;
const textOf = ({ addresses }: Allocation): string => addresses.map(({ address }) => address).join(',');
const said = (allocation: Allocation): string =>
  `${textOf(allocation)} of Pod ${podOf(allocation)} (uid ${allocation.podUid}, ${allocation.attachment?.provider}, event ${allocation.seq})`;

/** No address, no attachment and no MAC is given twice; nor is an address on one network, whatever the Subnet. */
function heldTwice({ allocations }: Picture): string[] {
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
      if (other) found.push(`${key} is held twice: by ${said(other)} and by ${said(allocation)}`);
      holders.set(key, allocation);
    }
  }
  return found;
}

/** What stands in etcd is what the ledger says, in both directions. */
function claims({ allocations, claims: keys }: Picture): string[] {
  const found: string[] = [];
  const known = new Set<string>();
  for (const allocation of allocations)
    for (const { address } of allocation.addresses) {
      const name = `${allocation.subnet}/${address}`;
      known.add(name);
      const key = keys.get(name);
      if (!key) found.push(`etcd has no key addr/${name} for ${said(allocation)}`);
      else if (key.alloc !== allocation.seq || key.holder?.uid !== allocation.podUid)
        found.push(`etcd's addr/${name} is held by ${holderOf(key)}; the ledger says ${said(allocation)}`);
      else if (containers(key.bindings) !== containers(allocation.bindings))
        found.push(
          `etcd's addr/${name} is bound to ${containers(key.bindings)}; the ledger says ${containers(allocation.bindings)}`,
        );
    }
  for (const [name, key] of keys)
    if (key.alloc !== undefined && !known.has(name))
      found.push(`etcd's addr/${name} is held by ${holderOf(key)}; the ledger knows of no such allocation`);
  return found;
}

function holderOf({
  alloc,
  holder,
}: {
  alloc?: number;
  holder?: { uid: string; attachment: { pod: string } };
}): string {
  return alloc === undefined ? 'nobody' : `Pod ${holder?.attachment.pod} (uid ${holder?.uid}, event ${alloc})`;
}

function containers(bindings: readonly { containerId: string; interface: string }[]): string {
  return bindings.map(({ containerId, interface: name }) => `${containerId}/${name}`).join(', ') || 'no container';
}

/** Who holds something is there, lives, and shows exactly that. */
function podsOfAllocations({ allocations, pods }: Picture): string[] {
  const byName = new Map(pods.map((pod) => [nameOf(pod), pod]));
  return allocations.flatMap((allocation) => {
    const pod = byName.get(podOf(allocation));
    if (!pod) return [`${said(allocation)} is held, and there is no such Pod`];
    if (pod.metadata.uid !== allocation.podUid)
      return [`${said(allocation)} is held, and the Pod of that name has uid ${pod.metadata.uid}`];
    if (!lives(pod)) return [`${said(allocation)} is held, and the Pod has ended (${textAt(pod.status, 'phase')})`];
    return shown(allocation, pod.metadata.annotations ?? {});
  });
}

function shown(allocation: Allocation, annotations: Readonly<Record<string, string>>): string[] {
  const wanted = Object.entries(annotationsOf(allocation));
  return wanted.flatMap(([key, value]) => {
    const present = annotations[key] ?? '';
    const same = key.includes('/mac_address') ? present.toLowerCase() === value : present === value;
    return same ? [] : [`annotation ${key} of Pod ${podOf(allocation)} is "${present}", and should be "${value}"`];
  });
}

/** Kube-OVN's keys. A further attachment of a provider shows its address under its interface, once that is known. */
function annotationsOf(allocation: Allocation): Record<string, string> {
  const { addresses, mac, interface: name, attachment } = allocation;
  const provider = `${attachment?.provider}.kubernetes.io`;
  if (attachment?.ordinal === 0)
    return {
      [`${provider}/ip_address`]: textOf(allocation),
      [`${provider}/mac_address`]: mac,
      [`${provider}/cidr`]: addresses.map(({ cidr }) => cidr).join(','),
      [`${provider}/gateway`]: addresses.map(({ gateway }) => gateway).join(','),
      [`${provider}/allocated`]: 'true',
    };
  if (name === '') return {};
  return { [`${provider}/ip_address.${name}`]: textOf(allocation), [`${provider}/mac_address.${name}`]: mac };
}

/** Each allocation has its IP object, and each IP object its allocation. */
function ipObjects({ allocations, ips }: Picture): string[] {
  const found: string[] = [];
  const byName = new Map(ips.map((ip) => [ip.metadata.name, ip]));
  for (const allocation of allocations) {
    const name = ipNameOf(allocation);
    const object = byName.get(name);
    byName.delete(name);
    if (!object) {
      found.push(`there is no IP object ${name} for ${said(allocation)}`);
      continue;
    }
    const ipAddress = textOf(allocation);
    const { attachment, subnet, mac: macAddress } = allocation;
    const spec = { podName: attachment?.pod, namespace: attachment?.namespace, subnet, ipAddress, macAddress };
    for (const [field, value] of Object.entries(spec))
      if (object.spec?.[field] !== value)
        found.push(
          `IP object ${name} says ${field} ${JSON.stringify(object.spec?.[field])}, and should say "${value}"`,
        );
    if (object.metadata.annotations?.['ipledger.io/allocation'] !== String(allocation.seq))
      found.push(`IP object ${name} shows another allocation than event ${allocation.seq}`);
  }
  for (const [name, { spec }] of byName)
    found.push(`IP object ${name} shows ${textAt(spec, 'ipAddress')}, which nobody holds`);
  return found;
}

const ipNameOf = ({ attachment }: Allocation): string =>
  ipName(attachment ?? { pod: '', namespace: '', provider: '', ordinal: 0 });

/** A Pod that lives says "allocated" only of what it holds. One that has ended may still show what it had. */
function strayAnnotations({ allocations, pods }: Picture): string[] {
  // Kube-OVN-type NICs of one network also have keys with their interface in them.
  const held = new Set(
    allocations.flatMap(({ podUid, attachment, interface: name, bindings }) =>
      ['', `.${name}`, ...bindings.map((bound) => `.${bound.interface}`)].map(
        (suffix) => `${podUid} ${attachment?.provider}${suffix}`,
      ),
    ),
  );
  return pods.filter(lives).flatMap((pod) =>
    Object.entries(pod.metadata.annotations ?? {}).flatMap(([key, value]) => {
      const provider = /^(.+)\.kubernetes\.io\/allocated$/.exec(key)?.[1];
      if (provider === undefined || value !== 'true' || held.has(`${pod.metadata.uid} ${provider}`)) return [];
      return [`annotation ${key} of Pod ${nameOf(pod)} says that it has an address, and it holds none`];
    }),
  );
}

/** A Subnet's status says what is held of it; so does the ledger, and both are what the allocations come to. */
function counts({ allocations, subnets, subnetObjects }: Picture): string[] {
  const heldIn = heldBySubnet(allocations, subnets);
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
      const wanted = {
        availableIPs: asStatus(available),
        usingIPs: asStatus(inUse),
        availableIPrange: availableRange,
        usingIPrange: inUseRange,
      };
      for (const [field, value] of Object.entries(wanted)) {
        const shows = status[`v${family}${field}`];
        if (shows !== value && !isCutShort(shows, value))
          found.push(
            `status.v${family}${field} of Subnet ${name} is ${JSON.stringify(shows)}, and should be "${value}"`,
          );
      }
    }
    return found;
  });
}

/** A status ends a range of many pieces with "...". */
function isCutShort(shows: unknown, whole: string | number): boolean {
  if (typeof shows !== 'string' || typeof whole !== 'string' || !shows.endsWith(',...')) return false;
  return whole.startsWith(shows.slice(0, -'...'.length));
}

/** The API server's integers end at 2^63 - 1; and what JSON.parse reads of one is rounded. */
function asStatus(count: string): number {
  const [exact, most] = [BigInt(count), 2n ** 63n - 1n];
  return Number(exact < most ? exact : most);
}

/** Excluded addresses can be held by who asks for them by name, and are counted nowhere. */
function isExcluded(address: string, spec: SubnetSpec | undefined): boolean {
  const excluded = new BlockList();
  for (const range of spec?.excludeIps ?? []) {
    const [first = '', last = first] = range.split('..');
    excluded.addRange(first, last, isIPv4(first) ? 'ipv4' : 'ipv6');
  }
  return excluded.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;

/** Kube-OVN's rule: a Pod needs its addresses until its containers have ended for good. */
function lives({ spec, status }: KubeObject): boolean {
  const [phase, policy] = [textAt(status, 'phase'), textAt(spec, 'restartPolicy')];
  return !(phase === 'Succeeded' && policy !== 'Always') && !(phase === 'Failed' && policy === 'Never');
}

function textAt(fields: Readonly<Record<string, unknown>> | undefined, key: string): string {
  const value = fields?.[key];
  return typeof value === 'string' ? value : '';
}

/** Compares the ledger with the IP objects, and with the status of Subnets and IPPools. */
import {
  attachmentOf,
  type AttachmentName,
  ipObjectNames,
  ipReservationReason,
} from '../../lib/kubernetes/ip-object-name.ts';
import type { AddressRecord, Allocation, Usage } from '../../proto/generated/ipledger.ts';
import { ipv4First } from '../../lib/net/ip.ts';
import type { CheckInput } from './check-input.ts';
import { formatAddresses, formatAllocation } from '../output/format.ts';
import { formatPodName } from '../../lib/ledger-text/texts.ts';
import type { Disagreement, DisagreementKind } from './disagreement.ts';
import { type ClusterState, type IpObject, resourceOf, type StatusObject } from '../cluster/cluster-state.ts';
import { formatShellCommand, restartWatcherCommand } from '../shell-command.ts';
import { conditionOf } from '../../lib/kubernetes/object-meta.ts';
import { asText } from '../../lib/kubernetes/untyped-json.ts';

/** The largest integer of the Kubernetes API. */
const maxCount = 2n ** 63n - 1n;

type Installation = Pick<ClusterState, 'namespace' | 'besideKubeOvn'>;

const correctIpObject = ({ namespace }: Installation): string =>
  restartWatcherCommand(namespace, 'it creates and corrects IP objects');
const showIpObjects = (installation: Installation, names: readonly string[], comment: string): string =>
  formatShellCommand(['kubectl', 'get', resourceOf('ips', installation), ...names, '-o', 'yaml'], comment);

/** Allocations and IP objects correspond, and no address is in two IP objects. */
export function compareIpObjects({ ledger, cluster }: CheckInput): Disagreement[] {
  const objects = new Map(cluster.ips.map((object) => [object.name, object]));
  const reservedNames = findReservedNames(ledger.reservations);
  // Every allocation has an attachment, unless the ledger is damaged
  const attached = ledger.allocations.map(({ attachment }) => attachment ?? noAttachment);
  const reservedBy = [...reservedNames.values()].map(({ attachment }) => attachment);
  const objectNames = ipObjectNames(attached, reservedBy);
  const names = new Set([...objectNames, ...reservedNames.keys()]);
  const subnets = new Set(ledger.subnets.map(({ name }) => name));
  const reserved = new Set(ledger.reservations.map(({ subnet, address }) => `${subnet}/${address}`));
  const isReservation = ({ allocation, spec }: IpObject): boolean =>
    allocation === '' && addressesIn(spec).every((address) => reserved.has(`${String(spec['subnet'])}/${address}`));
  return [
    ...ledger.allocations.flatMap((allocation, index) => {
      const name = objectNames[index] ?? '';
      const reserved = reservedNames.get(name);
      return compareIpObject(allocation, { name, object: objects.get(name), reserved, cluster });
    }),
    ...[...reservedNames].flatMap(([name, reserved]) =>
      compareReservedObject(name, reserved, objects.get(name), cluster),
    ),
    ...cluster.ips.flatMap((object) =>
      names.has(object.name) || isReservation(object) ? [] : findMissingAllocation(object, subnets, cluster),
    ),
    ...findDuplicates(cluster, subnets),
  ];
}

const noAttachment: AttachmentName = { pod: '', namespace: '', provider: '', ordinal: 0 };

/** The reservation of a user's IP object. */
interface ReservedObject {
  readonly attachment: AttachmentName;
  readonly subnet: string;
  /** IPv4 first. */
  readonly addresses: readonly string[];
}

/** The IP objects of users that reserve addresses, by their names. */
function findReservedNames(reservations: readonly AddressRecord[]): ReadonlyMap<string, ReservedObject> {
  const found = new Map<string, ReservedObject>();
  for (const { subnet, address, reservation } of reservations) {
    const { reason = '', reservedFor = '' } = reservation ?? {};
    const attachment = reason.startsWith(ipReservationReason) ? attachmentOf(reservedFor) : undefined;
    if (!attachment) continue;
    const name = reason.slice(ipReservationReason.length);
    const addresses = ipv4First([...(found.get(name)?.addresses ?? []), address]);
    found.set(name, { attachment, subnet, addresses });
  }
  return found;
}

/** A user's object shows its reservation, even if the Pod has another address. */
function compareReservedObject(
  name: string,
  { attachment, subnet, addresses }: ReservedObject,
  object: IpObject | undefined,
  cluster: Installation,
): Disagreement[] {
  const where = `IP ${name}`;
  if (!object) {
    const what = `there is none, and ${addresses.join(',')} of subnet ${subnet} is reserved by it`;
    const remedy = formatShellCommand(
      ['ipledger', 'history', addresses[0] ?? '', '--subnet', subnet],
      'the pod-watcher ends the reservation of a deleted object: check that it runs. If the object was lost, create it again',
    );
    return [{ kind: 'reservation', where, what, remedy }];
  }
  const expected = {
    podName: attachment.pod,
    namespace: attachment.namespace,
    subnet,
    ipAddress: addresses.join(','),
  };
  return findDifferences(object, expected).map((what) => ({
    kind: 'IP object differs',
    where,
    what,
    remedy: correctIpObject(cluster),
  }));
}

function compareIpObject(
  allocation: Allocation,
  {
    name,
    object,
    reserved,
    cluster,
  }: {
    readonly name: string;
    readonly object: IpObject | undefined;
    readonly reserved: ReservedObject | undefined;
    readonly cluster: Installation;
  },
): Disagreement[] {
  const create = (kind: DisagreementKind, what: string): Disagreement => ({
    kind,
    where: `IP ${name}`,
    what,
    remedy: correctIpObject(cluster),
  });
  // `compareReservedObject` reports it
  if (!object && reserved) return [];
  if (!object)
    return [
      create(
        'IP object missing',
        `there is none for ${formatAllocation(allocation)} of Pod ${formatPodName(allocation.attachment)}`,
      ),
    ];
  const { attachment, subnet, mac: macAddress } = allocation;
  const expected = {
    podName: attachment?.pod,
    namespace: attachment?.namespace,
    subnet,
    ipAddress: formatAddresses(allocation),
    macAddress,
  };
  const found = reserved ? [] : findDifferences(object, expected).map((what) => create('IP object differs', what));
  if (object.allocation !== String(allocation.seq))
    found.push(
      create(
        'IP object differs',
        `it names event ${object.allocation || 'none'}; the ledger has event ${allocation.seq}`,
      ),
    );
  return found;
}

function findDifferences({ spec }: IpObject, expected: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(expected).flatMap(([field, value]) => {
    const shown = spec[field] ?? '';
    return shown === value
      ? []
      : [`spec.${field} is ${JSON.stringify(shown)}; the ledger has ${JSON.stringify(value)}`];
  });
}

/** An IP object of another program counts only if its address is in a subnet of ipledger. */
function findMissingAllocation(
  { name, allocation, spec }: IpObject,
  subnets: ReadonlySet<unknown>,
  cluster: Installation,
): Disagreement[] {
  if (allocation === '' && !subnets.has(spec['subnet'])) return [];
  const what = `it has ${String(spec['ipAddress'])} of subnet ${String(spec['subnet'])}, and no allocation has this name`;
  const remedy =
    allocation === ''
      ? showIpObjects(cluster, [name], 'ipledger did not create it, and has no reservation for it: its Events show why')
      : restartWatcherCommand(cluster.namespace, 'it deletes the object');
  return [{ kind: 'IP object without allocation', where: `IP ${name}`, what, remedy }];
}

function findDuplicates(cluster: ClusterState, subnets: ReadonlySet<unknown>): Disagreement[] {
  const first = new Map<string, string>();
  return cluster.ips.flatMap(({ name, spec }) => {
    if (!subnets.has(spec['subnet'])) return [];
    return addressesIn(spec).flatMap((address): Disagreement[] => {
      const key = `${address} of subnet ${String(spec['subnet'])}`;
      const other = first.get(key);
      first.set(key, name);
      if (other === undefined) return [];
      const what = `IP ${other} and IP ${name} both have it`;
      const remedy = showIpObjects(cluster, [other, name], duplicateHint);
      return [{ kind: 'address in two IP objects', where: key, what, remedy }];
    });
  });
}

const duplicateHint = 'the pod-watcher deletes its own object without an allocation: check that it runs';

const addressesIn = (spec: IpObject['spec']): string[] =>
  typeof spec['ipAddress'] === 'string' ? spec['ipAddress'].split(',').filter((address) => address !== '') : [];

/** Kube-OVN's names of the status fields, after "v4" or "v6". */
const spellings = {
  Subnet: {
    available: 'availableIPs',
    inUse: 'usingIPs',
    availableRange: 'availableIPrange',
    inUseRange: 'usingIPrange',
  },
  IPPool: {
    available: 'AvailableIPs',
    inUse: 'UsingIPs',
    availableRange: 'AvailableIPRange',
    inUseRange: 'UsingIPRange',
  },
} as const;

/** The status of a Subnet or an IPPool shows its usage. An operator's subnet has no object. */
export function compareStatus({ ledger, cluster }: CheckInput): Disagreement[] {
  const compareAll = (
    kind: keyof typeof spellings,
    configured: readonly Configured[],
    objects: readonly StatusObject[],
  ) => {
    const byName = new Map(objects.map((object) => [object.name, object]));
    return configured.flatMap(({ name, usage }) => {
      const object = byName.get(name);
      return object ? usage.flatMap((family) => compareFields(kind, object, family, cluster)) : [];
    });
  };
  return [
    ...compareAll('Subnet', ledger.subnets, cluster.subnets),
    ...compareAll('IPPool', ledger.pools, cluster.pools),
  ];
}

interface Configured {
  readonly name: string;
  readonly usage: readonly Usage[];
}

function compareFields(
  kind: keyof typeof spellings,
  { name, status }: StatusObject,
  usage: Usage,
  { namespace }: Installation,
): Disagreement[] {
  const prefix = `v${usage.family}`;
  const spelling = spellings[kind];
  const expected = {
    [prefix + spelling.available]: clampCount(usage.available),
    [prefix + spelling.inUse]: clampCount(usage.inUse),
    [prefix + spelling.availableRange]: usage.availableRange,
    [prefix + spelling.inUseRange]: usage.inUseRange,
  };
  const remedy = restartWatcherCommand(namespace, 'it writes the status a second after a change');
  return Object.entries(expected).flatMap(([field, value]) => {
    const shown = status[field] ?? '';
    const what = `status.${field} is ${abbreviate(shown)}; the ledger has ${abbreviate(value)}`;
    return isShown(shown, value) ? [] : [{ kind: `${kind} status`, where: `${kind} ${name}`, what, remedy }];
  });
}

/** A number, rounded as JSON.parse rounds the number in the status. */
function clampCount(count: string): number {
  const exact = BigInt(count);
  return Number(exact < maxCount ? exact : maxCount);
}

/** A status ends a very long range with "...". */
function isShown(shown: unknown, expected: string | number): boolean {
  if (shown === expected) return true;
  if (typeof shown !== 'string' || typeof expected !== 'string' || !shown.endsWith(',...')) return false;
  return expected.startsWith(shown.slice(0, -'...'.length));
}

function abbreviate(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** The reason of the pod-watcher's condition. Others are of Subnets that are being deleted. */
const refused = 'ValidateLogicalSwitchFailed';

export function compareSubnets({ ledger, cluster }: CheckInput): Disagreement[] {
  const inForce = new Set(ledger.subnets.map(({ name }) => name));
  return cluster.subnets.flatMap(({ name, status }): Disagreement[] => {
    const ready = conditionOf(status, 'Ready');
    if (!inForce.has(name) || ready['status'] !== 'False' || ready['reason'] !== refused) return [];
    const what = `its spec is not in force, but an earlier one: ${asText(ready['message'])}`;
    const remedy = formatShellCommand(
      ['kubectl', 'describe', resourceOf('subnets', cluster), name],
      'correct what the condition Ready names: the pod-watcher applies the Subnet again at each change',
    );
    return [{ kind: 'Subnet refused', where: `Subnet ${name}`, what, remedy }];
  });
}

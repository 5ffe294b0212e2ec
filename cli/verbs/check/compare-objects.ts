/** Compares the ledger with the IP objects, and with the status of Subnets and IPPools. */
import { ipObjectName } from '../../../lib/kubernetes/ip-object-name.ts';
import type { Allocation, Usage } from '../../../proto/generated/ipledger.ts';
import type { CheckInput } from './check-input.ts';
import { formatAddresses, formatPodName, formatAllocation } from '../../output/format.ts';
import type { Disagreement, DisagreementKind } from './disagreement.ts';
import type { IpObject, StatusObject } from '../../cluster/cluster-state.ts';
import { formatShellCommand, restartWatcherCommand } from '../../output/shell-command.ts';

/** The largest integer of the Kubernetes API. */
const maxCount = 2n ** 63n - 1n;

const createIpObject = restartWatcherCommand('it creates the object');
const recreateIpObject = (name: string): string =>
  formatShellCommand(['kubectl', 'delete', 'ip', name], 'the pod-watcher creates the right object: check that it runs');

/** Each allocation has its IP object, each IP object its allocation, and no address is in two IP objects. */
export function compareIpObjects({ ledger, cluster }: CheckInput): Disagreement[] {
  const objects = new Map(cluster.ips.map((object) => [object.name, object]));
  const names = new Set(ledger.allocations.map(nameOf));
  const subnets = new Set(ledger.subnets.map(({ name }) => name));
  const reserved = new Set(ledger.reservations.map(({ subnet, address }) => `${subnet}/${address}`));
  const isReservation = ({ allocation, spec }: IpObject): boolean =>
    allocation === '' && addressesIn(spec).every((address) => reserved.has(`${String(spec['subnet'])}/${address}`));
  return [
    ...ledger.allocations.flatMap((allocation) => compareIpObject(allocation, objects.get(nameOf(allocation)))),
    ...cluster.ips.flatMap((object) =>
      names.has(object.name) || isReservation(object) ? [] : findMissingAllocation(object, subnets),
    ),
    ...findDuplicates(cluster.ips, subnets),
  ];
}

/** Every allocation has an attachment, unless the ledger is damaged. */
const nameOf = ({ attachment }: Allocation): string =>
  ipObjectName(attachment ?? { pod: '', namespace: '', provider: '', ordinal: 0 });

function compareIpObject(allocation: Allocation, object: IpObject | undefined): Disagreement[] {
  const name = nameOf(allocation);
  const create = (kind: DisagreementKind, what: string): Disagreement => ({
    kind,
    where: `IP ${name}`,
    what,
    remedy: object ? recreateIpObject(name) : createIpObject,
  });
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
  const found = Object.entries(expected).flatMap(([field, value]) => {
    const shown = object.spec[field] ?? '';
    const what = `spec.${field} is ${JSON.stringify(shown)}; the ledger has ${JSON.stringify(value)}`;
    return shown === value ? [] : [create('IP object differs', what)];
  });
  if (object.allocation !== String(allocation.seq))
    found.push(
      create(
        'IP object differs',
        `it names event ${object.allocation || 'none'}; the ledger has event ${allocation.seq}`,
      ),
    );
  return found;
}

/** An IP object that ipledger did not create counts only if its address is of one of ipledger's subnets. */
function findMissingAllocation({ name, allocation, spec }: IpObject, subnets: ReadonlySet<unknown>): Disagreement[] {
  if (allocation === '' && !subnets.has(spec['subnet'])) return [];
  const what = `it has ${String(spec['ipAddress'])} of subnet ${String(spec['subnet'])}, and no allocation has this name`;
  const hint =
    allocation === ''
      ? 'ipledger did not create it: check that nothing else needs it'
      : 'the pod-watcher does that: check that it runs';
  const remedy = formatShellCommand(['kubectl', 'delete', 'ip', name], hint);
  return [{ kind: 'IP object without allocation', where: `IP ${name}`, what, remedy }];
}

function findDuplicates(ips: readonly IpObject[], subnets: ReadonlySet<unknown>): Disagreement[] {
  const first = new Map<string, string>();
  return ips.flatMap(({ name, spec }) => {
    if (!subnets.has(spec['subnet'])) return [];
    return addressesIn(spec).flatMap((address): Disagreement[] => {
      const key = `${address} of subnet ${String(spec['subnet'])}`;
      const other = first.get(key);
      first.set(key, name);
      if (other === undefined) return [];
      const what = `IP ${other} and IP ${name} both have it`;
      return [{ kind: 'address in two IP objects', where: key, what, remedy: recreateIpObject(name) }];
    });
  });
}

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

/** The status of a Subnet or an IPPool shows its usage. A subnet that an operator configured has no object. */
export function compareStatus({ ledger, cluster }: CheckInput): Disagreement[] {
  const compareAll = (
    kind: keyof typeof spellings,
    configured: readonly Configured[],
    objects: readonly StatusObject[],
  ) => {
    const byName = new Map(objects.map((object) => [object.name, object]));
    return configured.flatMap(({ name, usage }) => {
      const object = byName.get(name);
      return object ? usage.flatMap((family) => compareFields(kind, object, family)) : [];
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

function compareFields(kind: keyof typeof spellings, { name, status }: StatusObject, usage: Usage): Disagreement[] {
  const prefix = `v${usage.family}`;
  const spelling = spellings[kind];
  const expected = {
    [prefix + spelling.available]: clampCount(usage.available),
    [prefix + spelling.inUse]: clampCount(usage.inUse),
    [prefix + spelling.availableRange]: usage.availableRange,
    [prefix + spelling.inUseRange]: usage.inUseRange,
  };
  const remedy = restartWatcherCommand('it writes the status a second after a change');
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

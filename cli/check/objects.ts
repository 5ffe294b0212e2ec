/** The ledger against the objects that show it: IP objects and the status of Subnets. */
import { ipName } from '../../lib/ip-name.ts';
import type { Allocation, Usage } from '../../proto/ipledger.ts';
import type { Disagreement, IpObject, Kind, Picture, StatusObject } from './picture.ts';
import { addressesOf, command, podOf, restartWatcher, said } from './say.ts';

/** The API server's integers end here. */
const mostCount = 2n ** 63n - 1n;

const makes = restartWatcher('it makes the object');
const remake = (name: string): string =>
  command(['kubectl', 'delete', 'ip', name], 'the pod-watcher makes what should be there: is it running?');

/** Each allocation has its IP object, each IP object its allocation, and no two show one address. */
export function compareIpObjects({ ledger, cluster }: Picture): Disagreement[] {
  const objects = new Map(cluster.ips.map((object) => [object.name, object]));
  const names = new Set(ledger.allocations.map(nameOf));
  const subnets = new Set(ledger.subnets.map(({ name }) => name));
  const reserved = new Set(ledger.reservations.map(({ subnet, address }) => `${subnet}/${address}`));
  const isReserving = ({ allocation, spec }: IpObject): boolean =>
    allocation === '' && addressesIn(spec).every((address) => reserved.has(`${String(spec['subnet'])}/${address}`));
  return [
    ...ledger.allocations.flatMap((allocation) => ofAllocation(allocation, objects.get(nameOf(allocation)))),
    ...cluster.ips.flatMap((object) =>
      names.has(object.name) || isReserving(object) ? [] : superfluous(object, subnets),
    ),
    ...shownTwice(cluster.ips, subnets),
  ];
}

/** An allocation without an attachment would be a ledger's damage; its name is nobody's. */
const nameOf = ({ attachment }: Allocation): string =>
  ipName(attachment ?? { pod: '', namespace: '', provider: '', ordinal: 0 });

function ofAllocation(allocation: Allocation, object: IpObject | undefined): Disagreement[] {
  const name = nameOf(allocation);
  const tell = (kind: Kind, what: string): Disagreement => ({
    kind,
    where: `IP ${name}`,
    what,
    remedy: object ? remake(name) : makes,
  });
  if (!object)
    return [tell('IP object missing', `there is none for ${said(allocation)} of Pod ${podOf(allocation.attachment)}`)];
  const { attachment, subnet, mac: macAddress } = allocation;
  const wanted = {
    podName: attachment?.pod,
    namespace: attachment?.namespace,
    subnet,
    ipAddress: addressesOf(allocation),
    macAddress,
  };
  const found = Object.entries(wanted).flatMap(([field, value]) => {
    const shown = object.spec[field] ?? '';
    const what = `spec.${field} is ${JSON.stringify(shown)}; the ledger says ${JSON.stringify(value)}`;
    return shown === value ? [] : [tell('IP object differs', what)];
  });
  if (object.allocation !== String(allocation.seq))
    found.push(
      tell('IP object differs', `it shows event ${object.allocation || 'none'}; the ledger says ${allocation.seq}`),
    );
  return found;
}

/** One that ipledger did not make is none of our business, unless it shows an address of a subnet of ours. */
function superfluous({ name, allocation, spec }: IpObject, subnets: ReadonlySet<unknown>): Disagreement[] {
  if (allocation === '' && !subnets.has(spec['subnet'])) return [];
  const what = `it shows ${String(spec['ipAddress'])} of subnet ${String(spec['subnet'])}, and no Pod holds that under this name`;
  const hint =
    allocation === ''
      ? 'ipledger did not make it: does anybody else need it?'
      : 'the pod-watcher does that: is it running?';
  const remedy = command(['kubectl', 'delete', 'ip', name], hint);
  return [{ kind: 'IP object superfluous', where: `IP ${name}`, what, remedy }];
}

function shownTwice(ips: readonly IpObject[], subnets: ReadonlySet<unknown>): Disagreement[] {
  const first = new Map<string, string>();
  return ips.flatMap(({ name, spec }) => {
    if (!subnets.has(spec['subnet'])) return [];
    return addressesIn(spec).flatMap((address): Disagreement[] => {
      const key = `${address} of subnet ${String(spec['subnet'])}`;
      const other = first.get(key);
      first.set(key, name);
      if (other === undefined) return [];
      const what = `IP ${other} and IP ${name} both show it`;
      return [{ kind: 'address in two IP objects', where: key, what, remedy: remake(name) }];
    });
  });
}

const addressesIn = (spec: IpObject['spec']): string[] =>
  typeof spec['ipAddress'] === 'string' ? spec['ipAddress'].split(',').filter((address) => address !== '') : [];

/** How Kube-OVN spells a status' fields behind "v4" and "v6". */
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

/** The status of a Subnet or an IPPool says what is held of it. One that was configured without an object has none to say it. */
export function compareStatus({ ledger, cluster }: Picture): Disagreement[] {
  const of = (kind: keyof typeof spellings, configured: readonly Counted[], objects: readonly StatusObject[]) => {
    const byName = new Map(objects.map((object) => [object.name, object]));
    return configured.flatMap(({ name, usage }) => {
      const object = byName.get(name);
      return object ? usage.flatMap((family) => statusOf(kind, object, family)) : [];
    });
  };
  return [...of('Subnet', ledger.subnets, cluster.subnets), ...of('IPPool', ledger.pools, cluster.pools)];
}

interface Counted {
  readonly name: string;
  readonly usage: readonly Usage[];
}

function statusOf(kind: keyof typeof spellings, { name, status }: StatusObject, usage: Usage): Disagreement[] {
  const prefix = `v${usage.family}`;
  const spelling = spellings[kind];
  const wanted = {
    [prefix + spelling.available]: clamped(usage.available),
    [prefix + spelling.inUse]: clamped(usage.inUse),
    [prefix + spelling.availableRange]: usage.availableRange,
    [prefix + spelling.inUseRange]: usage.inUseRange,
  };
  const remedy = restartWatcher('it writes the status a second after a change');
  return Object.entries(wanted).flatMap(([field, value]) => {
    const shown = status[field] ?? '';
    const what = `status.${field} is ${brief(shown)}; the ledger says ${brief(value)}`;
    return says(shown, value) ? [] : [{ kind: `${kind} status`, where: `${kind} ${name}`, what, remedy }];
  });
}

/** As a number, rounded where JSON.parse rounds what the status shows. */
function clamped(count: string): number {
  const exact = BigInt(count);
  return Number(exact < mostCount ? exact : mostCount);
}

/** A status ends a very long range with "...". */
function says(shown: unknown, wanted: string | number): boolean {
  if (shown === wanted) return true;
  if (typeof shown !== 'string' || typeof wanted !== 'string' || !shown.endsWith(',...')) return false;
  return wanted.startsWith(shown.slice(0, -'...'.length));
}

function brief(value: unknown): string {
  const whole = JSON.stringify(value);
  return whole.length > 100 ? `${whole.slice(0, 100)}…` : whole;
}

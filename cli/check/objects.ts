/** The ledger against the objects that show it: IP objects and the status of Subnets. */
import { ipName } from '../../lib/ip-name.ts';
import type { Allocation, Usage } from '../../proto/ipledger.ts';
import type { Disagreement, IpObject, Kind, Picture, SubnetObject } from './picture.ts';
import { addressesOf, podOf, said } from './say.ts';

/** The API server's integers end here. */
const mostCount = 2n ** 63n - 1n;

const heals = 'the pod-watcher heals it: is it running, and may it write IP objects?';

/** Each allocation has its IP object, each IP object its allocation, and no two show one address. */
export function compareIpObjects({ ledger, cluster }: Picture): Disagreement[] {
  const objects = new Map(cluster.ips.map((object) => [object.name, object]));
  const names = new Set(ledger.allocations.map(nameOf));
  const subnets = new Set(ledger.subnets.map(({ name }) => name));
  return [
    ...ledger.allocations.flatMap((allocation) => ofAllocation(allocation, objects.get(nameOf(allocation)))),
    ...cluster.ips.flatMap((object) => (names.has(object.name) ? [] : superfluous(object, subnets))),
    ...shownTwice(cluster.ips, subnets),
  ];
}

/** An allocation without an attachment would be a ledger's damage; its name is nobody's. */
const nameOf = ({ attachment }: Allocation): string =>
  ipName(attachment ?? { pod: '', namespace: '', provider: '', ordinal: 0 });

function ofAllocation(allocation: Allocation, object: IpObject | undefined): Disagreement[] {
  const name = nameOf(allocation);
  const tell = (kind: Kind, what: string): Disagreement => ({ kind, where: `IP ${name}`, what, remedy: heals });
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
  const remedy = allocation === '' ? 'ipledger did not make it: delete it if nobody else needs it' : heals;
  return [{ kind: 'IP object superfluous', where: `IP ${name}`, what, remedy }];
}

function shownTwice(ips: readonly IpObject[], subnets: ReadonlySet<unknown>): Disagreement[] {
  const first = new Map<string, string>();
  return ips.flatMap(({ name, spec }) => {
    if (!subnets.has(spec['subnet']) || typeof spec['ipAddress'] !== 'string') return [];
    return spec['ipAddress'].split(',').flatMap((address): Disagreement[] => {
      const key = `${address} of subnet ${String(spec['subnet'])}`;
      const other = first.get(key);
      first.set(key, name);
      if (other === undefined || address === '') return [];
      const what = `IP ${other} and IP ${name} both show it`;
      return [{ kind: 'address in two IP objects', where: key, what, remedy: heals }];
    });
  });
}

/** A Subnet's status says what is held of it. A subnet that was configured without an object has none to say it. */
export function compareSubnets({ ledger, cluster }: Picture): Disagreement[] {
  const objects = new Map(cluster.subnets.map((object) => [object.name, object]));
  return ledger.subnets.flatMap(({ name, usage }) => {
    const object = objects.get(name);
    return object ? usage.flatMap((family) => statusOf(object, family)) : [];
  });
}

function statusOf({ name, status }: SubnetObject, { family, available, inUse, ...ranges }: Usage): Disagreement[] {
  const remedy = 'the pod-watcher writes it a second after a change: is it running, and may it patch subnets/status?';
  const prefix = `v${family}`;
  const wanted = {
    [`${prefix}availableIPs`]: clamped(available),
    [`${prefix}usingIPs`]: clamped(inUse),
    [`${prefix}availableIPrange`]: ranges.availableRange,
    [`${prefix}usingIPrange`]: ranges.inUseRange,
  };
  return Object.entries(wanted).flatMap(([field, value]) => {
    const shown = status[field] ?? '';
    const what = `status.${field} is ${brief(shown)}; the ledger says ${brief(value)}`;
    return says(shown, value) ? [] : [{ kind: 'Subnet status', where: `Subnet ${name}`, what, remedy }];
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

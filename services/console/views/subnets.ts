/** The list of Subnets, and one Subnet with its pools and trend. */
import { IpledgerError } from '../../../lib/errors.ts';
import {
  ViewsService,
  type Pool,
  type Subnet,
  type SubnetUsage,
  type Usage,
} from '../../../proto/generated/ipledger.ts';
import type {
  Condition,
  FamilyUsage,
  PoolRow,
  SubnetDetail,
  SubnetList,
  SubnetRow,
  TrendPoint,
} from '../api/subnet.ts';
import type { View } from '../http/routes.ts';
import { type LedgerReads, positionOf } from '../ledger/ledger-reads.ts';
import { ipledger } from '../rows/command.ts';

const hourMs = 3_600_000;
const trendHours = 48;
/** The threshold of the alert IpledgerSubnetNearlyFull. */
const nearlyFullPercent = 90;
/** The stored value for "never". */
const neverMs = 31_536_000_000_000;

export function listSubnets(reads: LedgerReads, now: () => number = Date.now): View {
  return async () => {
    const [reply, { usage }] = await Promise.all([reads.subnets(), reads.recentUsage()]);
    const bySubnet = Map.groupBy(usage, ({ subnet }) => subnet);
    const items = reply.subnets.map((subnet) => subnetRow(subnet, bySubnet.get(subnet.name) ?? [], now()));
    const body: SubnetList = { position: positionOf(reply), command: ipledger(['subnets']), items };
    return { body };
  };
}

export function showSubnet(reads: LedgerReads, now: () => number = Date.now): View {
  return async ({ params: { name = '' }, query, signal }) => {
    const days = query.number('days', { min: 1, max: 90, byDefault: 14 });
    const [reply, { pools }, recent] = await Promise.all([reads.subnets(), reads.pools(), reads.recentUsage()]);
    const subnet = reply.subnets.find((each) => each.name === name);
    if (!subnet) throw new IpledgerError('SUBNET_UNKNOWN', `no subnet ${name} is configured`);
    const ownUsage = recent.usage.filter((each) => each.subnet === name);
    const { usage } = await reads.readModel
      .call(ViewsService.listUsage, { subnet: name, hours: days * 24 }, signal)
      .catch(() => ({ usage: ownUsage }));
    const {
      excludeIps = [],
      cooldownMs = 60_000,
      bindingTimeoutMs = neverMs,
      maxAddressesPerNamespace,
    } = subnet.spec ?? {};
    const body: SubnetDetail = {
      position: positionOf(reply),
      command: ipledger(['subnets', name]),
      subnet: subnetRow(subnet, ownUsage, now()),
      excludeIps,
      cooldownSeconds: cooldownMs / 1_000,
      bindingTimeoutSeconds: bindingTimeoutMs >= neverMs ? null : bindingTimeoutMs / 1_000,
      maxAddressesPerNamespace: maxAddressesPerNamespace ?? null,
      pools: pools.filter(({ spec }) => spec?.subnet === name).map(poolRow),
      trend: trendOf(usage, days * 24, now()),
    };
    return { body, table: { columns: ['at', 'inUse'], rows: body.trend } };
  };
}

function subnetRow({ name, spec, usage, fenced }: Subnet, trend: readonly SubnetUsage[], now: number): SubnetRow {
  const families = usage.map((each) => familyUsage(each, spec));
  return {
    name,
    provider: spec?.provider ?? '',
    protocol: spec?.protocol ?? '',
    usage: families,
    conditions: conditionsOf(name, families, fenced),
    trend: inUseByHour(trend, trendHours, now),
    daysLeft: daysLeft(families, trend, now),
  };
}

function familyUsage(usage: Usage, spec: Subnet['spec']): FamilyUsage {
  const isOfFamily = (text: string): boolean => text.includes(':') === (usage.family === 6);
  const part = (joined: string): string => joined.split(',').find(isOfFamily) ?? '';
  return { ...counts(usage), cidr: part(spec?.cidrBlock ?? ''), gateway: part(spec?.gateway ?? '') };
}

function counts({
  family,
  total,
  inUse,
  reserved,
  available,
  free,
  cooldown,
}: Usage): Omit<FamilyUsage, 'cidr' | 'gateway'> {
  const percent = total === '0' || total === '' ? 0 : Number((BigInt(inUse || 0) * 1_000n) / BigInt(total)) / 10;
  const resting = free === '' ? cooldown : String(BigInt(available || 0) - BigInt(free));
  return { family: family === 6 ? 6 : 4, total, inUse, reserved, free, resting, percent };
}

const poolRow = ({ name, spec, usage }: Pool): PoolRow => ({
  name,
  ips: spec?.ips ?? [],
  namespaces: spec?.namespaces ?? [],
  usage: usage.map(counts),
});

function conditionsOf(name: string, families: readonly FamilyUsage[], fenced: readonly string[]): Condition[] {
  const ofUse = families.flatMap(({ family, free, percent }): Condition[] => {
    if (free === '0')
      return [{ type: 'Full', severity: 'critical', message: `subnet ${name} has no free IPv${family} address` }];
    if (percent < nearlyFullPercent) return [];
    const message = `${percent} % of the IPv${family} addresses of subnet ${name} are in use`;
    return [{ type: 'NearlyFull', severity: 'warning', message }];
  });
  if (fenced.length === 0) return ofUse;
  const message = `another program changed the keys of ${fenced.slice(0, 10).join(', ')}: the allocator decides nothing about them`;
  return [...ofUse, { type: 'Fenced', severity: 'critical', message }];
}

/** The number of a series at the end of an hour. A series leaves out hours without a change. */
function valueAt({ hours, inUse }: SubnetUsage, hour: number): number {
  const index = hours.findLastIndex((each) => each <= hour);
  return inUse[index] ?? 0;
}

/** Returns a number for each of the last hours, of both families; none without any series. */
function inUseByHour(usage: readonly SubnetUsage[], count: number, now: number): number[] {
  const first = Math.floor(now / hourMs) - count + 1;
  const sums = Array<number>(usage.length === 0 ? 0 : count).fill(0);
  for (const { hours, inUse } of usage) {
    let next = 0;
    for (let index = 0; index < count; index++) {
      while ((hours[next] ?? Infinity) <= first + index) next++;
      sums[index] = (sums[index] ?? 0) + (inUse[next - 1] ?? 0);
    }
  }
  return sums;
}

function trendOf(usage: readonly SubnetUsage[], hours: number, now: number): TrendPoint[] {
  const first = Math.floor(now / hourMs) - hours + 1;
  return inUseByHour(usage, hours, now).map((inUse, index) => {
    const end = (first + index + 1) * hourMs;
    return { at: new Date(Math.min(now, end)).toISOString(), inUse };
  });
}

/** Estimates by the growth of the last day, for the family that ends first. */
function daysLeft(families: readonly FamilyUsage[], usage: readonly SubnetUsage[], now: number): number | null {
  const current = Math.floor(now / hourMs);
  const days = families.flatMap(({ family, free, total, inUse }) => {
    const series = usage.find((each) => each.family === family);
    const growth = series ? valueAt(series, current) - valueAt(series, current - 24) : 0;
    const left = Number(free === '' ? BigInt(total || 0) - BigInt(inUse || 0) : free);
    return growth > 0 ? [Math.round((left / growth) * 10) / 10] : [];
  });
  return days.length === 0 ? null : Math.min(...days);
}

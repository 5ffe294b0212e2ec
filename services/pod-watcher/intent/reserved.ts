/** IP objects that people make so that a Pod finds its address when it comes. Pure. */
import { isIP } from 'node:net';
import { IpledgerError } from '../../../lib/errors.ts';
import { ipName } from '../../../lib/ip-name.ts';
import { finalizer } from '../../../lib/marks.ts';
import type { IpObject } from '../kubernetes/kept-objects.ts';
import { type Raw, text } from '../../../lib/raw.ts';
import type { Reasons } from './conditions.ts';
import type { Differences } from './keeper.ts';
import type { Wish } from './reservations.ts';

export const reservedReasons: Reasons = {
  validated: 'ReserveSucceeded',
  ready: 'ReserveSucceeded',
  refused: 'AcquireAddressFailed',
  inUse: 'IPInUse',
};

const podTypes = ['', 'VirtualMachine', 'StatefulSet'];
const labelMaxLength = 63;
const reservedLabel = 'ovn.kubernetes.io/ip_reserved';

/** Whether somebody made it, and not this program (it has no allocation) or Kube-OVN (whose objects have a finalizer). */
export function isReserving({ finalizers, allocation }: IpObject): boolean {
  return finalizers.includes(finalizer) || (allocation === '' && finalizers.length === 0);
}

/**
 * undefined for one whose name is not that of its Pod's IP object: Kube-OVN ignores those, too.
 * @param providerOf what a Subnet serves; "" of one that is not in force.
 * @throws IpledgerError
 */
export function reservedWish({ name, spec }: IpObject, providerOf: (subnet: string) => string): Wish | undefined {
  const [subnet, podType, pod, namespace] = ['subnet', 'podType', 'podName', 'namespace'].map((key) => text(spec[key]));
  const addresses = addressesOf(spec);
  if (!subnet) throw new IpledgerError('INVALID_REQUEST', 'subnet parameter cannot be empty');
  if (!podTypes.includes(podType ?? ''))
    throw new IpledgerError('INVALID_REQUEST', `podType ${podType} is not supported`);
  const shouting = addresses.find((address) => address.includes(':') && /[A-F]/.test(address));
  if (shouting !== undefined)
    throw new IpledgerError('INVALID_REQUEST', `v6 ip address ${shouting} can not contain upper case`);
  const provider = providerOf(subnet);
  if (provider === '')
    throw new IpledgerError('SUBNET_UNKNOWN', `subnet ${subnet} does not exist in IPAM: the IP waits for it`);
  if (!pod || !namespace || name !== ipName({ pod, namespace, provider, ordinal: 0 })) return undefined;
  return {
    subnet,
    addresses,
    reservedFor: `pod/${namespace}/${pod}/${provider}`,
    mac: text(spec['macAddress']),
    namespace,
  };
}

function addressesOf(spec: Raw): string[] {
  const single = [text(spec['v4IpAddress']), text(spec['v6IpAddress'])].filter((each) => each !== '');
  return single.length > 0
    ? single
    : text(spec['ipAddress'])
        .split(',')
        .filter((each) => each !== '');
}

/** What it shows of its addresses; each key is a field of its spec. */
export function reservedShown(_object: IpObject, addresses: readonly string[]): Raw {
  const of = (family: number): string => addresses.find((address) => isIP(address) === family) ?? '';
  return { ipAddress: addresses.join(','), v4IpAddress: of(4), v6IpAddress: of(6) };
}

export function reservedDifferences({ labels, spec }: IpObject, wanted: Raw): Differences {
  const subnet = text(spec['subnet']);
  // A name that is too long for a label stands in the spec only.
  const selectable = subnet.length <= labelMaxLength && { 'ovn.kubernetes.io/subnet': subnet, [subnet]: '' };
  const wantedLabels: Raw = { ...selectable, [reservedLabel]: 'true' };
  const differing = (present: Raw, all: Raw, absent: string | undefined): Raw | undefined => {
    const news = Object.entries(all).filter(([key, value]) => (present[key] ?? absent) !== value);
    return news.length > 0 ? Object.fromEntries(news) : undefined;
  };
  const [ofLabels, ofSpec] = [differing(labels, wantedLabels, undefined), differing(spec, wanted, '')];
  return { ...(ofLabels && { labels: ofLabels }), ...(ofSpec && { spec: ofSpec }) };
}

/** Reads IP objects with which users reserve an address for a future Pod. Pure. */
import { isIP } from 'node:net';
import { IpledgerError } from '../../../../lib/errors.ts';
import { ipObjectName } from '../../../../lib/kubernetes/ip-object-name.ts';
import { finalizer } from '../../../../lib/kubernetes/kubernetes-metadata.ts';
import type { IpObject } from '../../kubernetes/objects/ip.ts';
import { type UntypedJson, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import type { ConditionReasons } from '../object-controller/conditions.ts';
import type { Differences } from '../object-controller/object-controller.ts';
import type { DesiredReservation } from './reservation-controller.ts';

export const ipReservationReasons: ConditionReasons = {
  validated: 'ReserveSucceeded',
  ready: 'ReserveSucceeded',
  refused: 'AcquireAddressFailed',
  inUse: 'IPInUse',
};

const podTypes = ['', 'VirtualMachine', 'StatefulSet'];
const labelMaxLength = 63;
const reservedLabel = 'ovn.kubernetes.io/ip_reserved';

/** Whether a user created the object: it has no allocation and no Kube-OVN finalizer. */
export function isIpReservation({ finalizers, allocation }: IpObject): boolean {
  return finalizers.includes(finalizer) || (allocation === '' && finalizers.length === 0);
}

/**
 * Returns the reservation that an IP object requests.
 * @param providerOf the provider of a Subnet; "" if it is not in force
 * @returns undefined if the name is not that of its Pod's IP object: Kube-OVN ignores those, too
 * @throws IpledgerError
 */
export function desiredIpReservation(
  { name, content }: IpObject,
  providerOf: (subnet: string) => string,
): DesiredReservation | undefined {
  const spec = content?.spec ?? {};
  const [subnet, podType, pod, namespace] = ['subnet', 'podType', 'podName', 'namespace'].map((key) =>
    asText(spec[key]),
  );
  const addresses = addressesOf(spec);
  if (!subnet) throw new IpledgerError('INVALID_REQUEST', 'subnet parameter cannot be empty');
  if (!podTypes.includes(podType ?? ''))
    throw new IpledgerError('INVALID_REQUEST', `podType ${podType} is not supported`);
  const upperCase = addresses.find((address) => address.includes(':') && /[A-F]/.test(address));
  if (upperCase !== undefined)
    throw new IpledgerError('INVALID_REQUEST', `v6 ip address ${upperCase} can not contain upper case`);
  const provider = providerOf(subnet);
  if (provider === '')
    throw new IpledgerError('SUBNET_UNKNOWN', `subnet ${subnet} does not exist in IPAM: the IP waits for it`);
  if (!pod || !namespace || name !== ipObjectName({ pod, namespace, provider, ordinal: 0 })) return undefined;
  return {
    subnet,
    addresses,
    reservedFor: `pod/${namespace}/${pod}/${provider}`,
    mac: asText(spec['macAddress']).trim(),
    namespace,
    isCompleted: true,
  };
}

const singleFields = ['v4IpAddress', 'v6IpAddress'] as const;

/** Returns the user's addresses. `ipAddress` also has those that complete a reservation. */
function addressesOf(spec: UntypedJson): string[] {
  const single = singleFields.map((key) => asText(spec[key]).trim()).filter((each) => each !== '');
  return single.length > 0
    ? single
    : asText(spec['ipAddress'])
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== '');
}

/**
 * Returns the fields of the spec that show the addresses. If the user named an address of one
 * family, only `ipAddress` shows the other family: a filled-in field beside it would make the API
 * reject the next `kubectl apply` of the user's file.
 */
export function appliedIpFields({ content }: IpObject, addresses: readonly string[]): UntypedJson {
  const of = (family: number): string => addresses.find((address) => isIP(address) === family) ?? '';
  const ipAddress = addresses.join(',');
  const isNamed = singleFields.some((key) => asText(content?.spec[key]) !== '');
  return isNamed ? { ipAddress } : { ipAddress, v4IpAddress: of(4), v6IpAddress: of(6) };
}

export function ipReservationDifferences({ content }: IpObject, desired: UntypedJson): Differences {
  const { labels, spec } = content ?? { labels: {}, spec: {} };
  const subnet = asText(spec['subnet']);
  // Omits a name that is too long for a label. The spec has it.
  const selectable = subnet.length <= labelMaxLength && { 'ovn.kubernetes.io/subnet': subnet, [subnet]: '' };
  const desiredLabels: UntypedJson = { ...selectable, [reservedLabel]: 'true' };
  const changed = (present: UntypedJson, all: UntypedJson, absent: string | undefined): UntypedJson | undefined => {
    const fields = Object.entries(all).filter(([key, value]) => (present[key] ?? absent) !== value);
    return fields.length > 0 ? Object.fromEntries(fields) : undefined;
  };
  const [ofLabels, ofSpec] = [changed(labels, desiredLabels, undefined), changed(spec, desired, '')];
  return { ...(ofLabels && { labels: ofLabels }), ...(ofSpec && { spec: ofSpec }) };
}

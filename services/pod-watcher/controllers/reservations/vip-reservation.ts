/** Reads Vip objects, which reserve addresses under a name. Pure. */
import { isIP } from 'node:net';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { VipObject } from '../../kubernetes/objects/vip.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import type { ConditionReasons } from '../object-controller/conditions.ts';
import { type Differences } from '../object-controller/object-controller.ts';
import type { DesiredReservation } from './reservation-controller.ts';

const labelMaxLength = 63;

export const vipReasons: ConditionReasons = {
  validated: 'ReserveSucceeded',
  ready: 'ReserveSucceeded',
  refused: 'AcquireAddressFailed',
  inUse: 'VipInUse',
};

/** @throws IpledgerError */
export function desiredVipReservation({ name, spec }: VipObject): DesiredReservation {
  const { subnet, v4ip, v6ip, macAddress: mac, namespace } = spec;
  if (subnet === '') throw new IpledgerError('INVALID_REQUEST', 'subnet parameter cannot be empty');
  if (/[A-F]/.test(v6ip))
    throw new IpledgerError('INVALID_REQUEST', `v6 ip address ${v6ip} can not contain upper case`);
  const addresses = [v4ip, v6ip].filter((each) => each !== '');
  return { subnet, mac, reservedFor: `vip/${name}`, addresses, namespace };
}

/** Returns the labels, spec and status with which a Vip shows its addresses. */
export function appliedVipFields({ spec }: VipObject, addresses: readonly string[]): UntypedJson {
  const of = (family: number): string => addresses.find((address) => isIP(address) === family) ?? '';
  const [v4ip, v6ip] = [of(4), of(6)];
  return {
    labels: {
      // Omits a name that is too long for a label. The spec has it.
      ...(spec.subnet.length <= labelMaxLength && { 'ovn.kubernetes.io/subnet': spec.subnet }),
      'ovn.kubernetes.io/ip_reserved': '',
    },
    spec: { v4ip, v6ip },
    status: { v4ip, v6ip, mac: spec.macAddress, type: spec.type },
  };
}

/** Returns the fields to change. Keeps present labels, which name users of the address. */
export function vipDifferences({ labels, spec, status }: VipObject, desired: UntypedJson): Differences {
  const changed = (part: 'labels' | 'spec' | 'status', present: UntypedJson): UntypedJson | undefined => {
    const fields = Object.entries(desired[part] as UntypedJson).filter(([key, value]) =>
      part === 'labels' ? present[key] === undefined : (present[key] ?? '') !== value,
    );
    return fields.length > 0 ? Object.fromEntries(fields) : undefined;
  };
  const [ofLabels, ofSpec, ofStatus] = [
    changed('labels', labels),
    changed('spec', { ...spec }),
    changed('status', status),
  ];
  return {
    ...(ofLabels && { labels: ofLabels }),
    ...(ofSpec && { spec: ofSpec }),
    ...(ofStatus && { status: ofStatus }),
  };
}

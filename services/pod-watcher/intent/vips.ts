/** Vip objects: an address held under a name of its own. Pure. */
import { isIP } from 'node:net';
import { IpledgerError } from '../../../lib/errors.ts';
import type { VipObject } from '../kubernetes/kept-objects.ts';
import type { Raw } from '../../../lib/raw.ts';
import type { Reasons } from './conditions.ts';
import { type Differences } from './keeper.ts';
import type { Wish } from './reservations.ts';

const labelMaxLength = 63;

export const vipReasons: Reasons = {
  validated: 'ReserveSucceeded',
  ready: 'ReserveSucceeded',
  refused: 'AcquireAddressFailed',
  inUse: 'VipInUse',
};

/** @throws IpledgerError */
export function vipWish({ name, spec }: VipObject): Wish {
  const { subnet, v4ip, v6ip, macAddress: mac, namespace } = spec;
  if (subnet === '') throw new IpledgerError('INVALID_REQUEST', 'subnet parameter cannot be empty');
  if (/[A-F]/.test(v6ip))
    throw new IpledgerError('INVALID_REQUEST', `v6 ip address ${v6ip} can not contain upper case`);
  const addresses = [v4ip, v6ip].filter((each) => each !== '');
  return { subnet, mac, reservedFor: `vip/${name}`, addresses, namespace };
}

/** What a Vip shows of its addresses, flat: labels, spec and status have no field in common. */
export function vipShown({ spec }: VipObject, addresses: readonly string[]): Raw {
  const of = (family: number): string => addresses.find((address) => isIP(address) === family) ?? '';
  const [v4ip, v6ip] = [of(4), of(6)];
  return {
    labels: {
      // A name that is too long for a label stands in the spec only.
      ...(spec.subnet.length <= labelMaxLength && { 'ovn.kubernetes.io/subnet': spec.subnet }),
      'ovn.kubernetes.io/ip_reserved': '',
    },
    spec: { v4ip, v6ip },
    status: { v4ip, v6ip, mac: spec.macAddress, type: spec.type },
  };
}

/** Of labels that are there, their values are left alone: they say who uses the address. */
export function vipDifferences({ labels, spec, status }: VipObject, wanted: Raw): Differences {
  const news = (part: 'labels' | 'spec' | 'status', present: Raw): Raw | undefined => {
    const fields = Object.entries(wanted[part] as Raw).filter(([key, value]) =>
      part === 'labels' ? present[key] === undefined : (present[key] ?? '') !== value,
    );
    return fields.length > 0 ? Object.fromEntries(fields) : undefined;
  };
  const [ofLabels, ofSpec, ofStatus] = [news('labels', labels), news('spec', { ...spec }), news('status', status)];
  return {
    ...(ofLabels && { labels: ofLabels }),
    ...(ofSpec && { spec: ofSpec }),
    ...(ofStatus && { status: ofStatus }),
  };
}

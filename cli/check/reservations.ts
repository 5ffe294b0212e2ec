/** What is reserved, against the Vip objects that want it. */
import type { AddressRecord } from '../../proto/ipledger.ts';
import type { Disagreement, Picture, Vip } from './picture.ts';
import { command } from './say.ts';

/** How the pod-watcher explains what it reserves for a Vip: what somebody else reserved is no object's business. */
const madeFor = 'Vip object ';
const hint = 'the pod-watcher does that: is it running?';

/** Each address that a Vip shows is reserved for it, and what was reserved for a Vip has one. */
export function compareReservations({ ledger, cluster }: Picture): Disagreement[] {
  const reserved = new Map(ledger.reservations.map((record) => [`${record.subnet}/${record.address}`, record]));
  const vips = new Set(cluster.vips.map(({ name }) => name));
  return [
    ...cluster.vips.flatMap((vip) => ofVip(vip, reserved)),
    ...ledger.reservations.flatMap((record) => withoutVip(record, vips)),
  ];
}

function ofVip({ name, subnet, addresses }: Vip, reserved: ReadonlyMap<string, AddressRecord>): Disagreement[] {
  return addresses.flatMap((address): Disagreement[] => {
    const whose = reserved.get(`${subnet}/${address}`)?.reservation?.reservedFor;
    if (whose === `vip/${name}`) return [];
    const what = `it shows ${address} of subnet ${subnet}, which is reserved for ${whose ?? 'nobody'}`;
    const words = ['ipledger', 'reserve', address, '--subnet', subnet, '--for', `vip/${name}`, '--reason'];
    return [{ kind: 'Vip', where: `Vip ${name}`, what, remedy: command([...words, `${madeFor}${name}`], hint) }];
  });
}

function withoutVip({ subnet, address, reservation }: AddressRecord, vips: ReadonlySet<string>): Disagreement[] {
  const { reason = '', reservedFor = '' } = reservation ?? {};
  if (!reason.startsWith(madeFor) || vips.has(reason.slice(madeFor.length))) return [];
  const what = `it is reserved for ${reservedFor}, and there is no such Vip`;
  const words = ['ipledger', 'unreserve', address, '--subnet', subnet, '--reason', 'its Vip is gone'];
  return [{ kind: 'reservation', where: `${address} of subnet ${subnet}`, what, remedy: command(words, hint) }];
}

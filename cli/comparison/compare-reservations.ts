/** Compares the reservations with the Vip objects. */
import type { AddressRecord } from '../../proto/generated/ipledger.ts';
import type { CheckInput } from './check-input.ts';
import type { Disagreement } from './disagreement.ts';
import type { Vip } from '../cluster/cluster-state.ts';
import { formatShellCommand } from '../shell-command.ts';

/** The pod-watcher's reason for a Vip's reservation. Other reservations have no Vip. */
const vipReason = 'Vip object ';
const hint = 'the pod-watcher does that: check that it runs';

/** Each address of a Vip is reserved for it, and each Vip's reservation has its Vip. */
export function compareReservations({ ledger, cluster }: CheckInput): Disagreement[] {
  const reserved = new Map(ledger.reservations.map((record) => [`${record.subnet}/${record.address}`, record]));
  const vips = new Set(cluster.vips.map(({ name }) => name));
  return [
    ...cluster.vips.flatMap((vip) => compareVip(vip, reserved)),
    ...ledger.reservations.flatMap((record) => findMissingVip(record, vips)),
  ];
}

function compareVip({ name, subnet, addresses }: Vip, reserved: ReadonlyMap<string, AddressRecord>): Disagreement[] {
  return addresses.flatMap((address): Disagreement[] => {
    const owner = reserved.get(`${subnet}/${address}`)?.reservation?.reservedFor;
    if (owner === `vip/${name}`) return [];
    const what = `its status has ${address} of subnet ${subnet}, which is ${owner === undefined ? 'not reserved' : `reserved for ${owner}`}`;
    const words = ['ipledger', 'reserve', address, '--subnet', subnet, '--for', `vip/${name}`, '--reason'];
    return [
      { kind: 'Vip', where: `Vip ${name}`, what, remedy: formatShellCommand([...words, `${vipReason}${name}`], hint) },
    ];
  });
}

function findMissingVip({ subnet, address, reservation }: AddressRecord, vips: ReadonlySet<string>): Disagreement[] {
  const { reason = '', reservedFor = '' } = reservation ?? {};
  if (!reason.startsWith(vipReason) || vips.has(reason.slice(vipReason.length))) return [];
  const what = `it is reserved for ${reservedFor}, and there is no such Vip`;
  const remedy = formatShellCommand(
    ['ipledger', 'history', address, '--subnet', subnet],
    'the pod-watcher ends the reservation of a deleted Vip: check that it runs. If the Vip was lost, create it again',
  );
  return [{ kind: 'reservation', where: `${address} of subnet ${subnet}`, what, remedy }];
}

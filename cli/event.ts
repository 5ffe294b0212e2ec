/** Events as rows: what each is about, and why it happened or what it did. */
import type { Attachment, Event, SubnetSpec } from '../proto/ipledger.ts';
import { causeText } from './cause.ts';
import type { Column } from './table.ts';

/** Columns that are long and seldom needed are only shown with `-o wide`. */
export const eventColumns: readonly Column[] = [
  { name: 'SEQ' },
  { name: 'TIME', time: true },
  { name: 'EVENT', atLeast: 'AddressTransferred'.length },
  { name: 'ADDRESS' },
  { name: 'POD' },
  { name: 'DETAIL' },
  { name: 'SUBNET' },
  { name: 'UID', wide: true },
  { name: 'PROVIDER', wide: true },
  { name: 'ACTOR', wide: true },
  { name: 'COMMAND', wide: true },
];

/** The same for the history of one address, which every row would repeat. */
export const eventColumnsOfOneAddress: readonly Column[] = eventColumns.map((column) =>
  column.name === 'ADDRESS' ? { ...column, wide: true } : column,
);

/** An event, in these columns. */
export function eventRow(event: Event): string[] {
  const { attachment, uid, detail } = told(event);
  return [
    String(event.seq),
    event.at,
    event.type,
    addressText(event),
    attachment ? podOf(attachment) : '',
    detail,
    event.subnet,
    uid ?? '',
    attachment?.provider ?? '',
    event.actor,
    event.command,
  ];
}

/** The addresses that an event touches. */
export const addressesOf = ({ before }: Event): string[] => before.map(({ address }) => address);

/** Of very many addresses the first stands for all. */
function addressText(event: Event): string {
  const [first = '', ...others] = addressesOf(event);
  return event.claimsDropped && others.length > 0 ? `${first} and ${others.length} more` : [first, ...others].join(',');
}

export const podOf = ({ namespace, pod }: Attachment): string => `${namespace}/${pod}`;

/** Whom an event is about, and why it happened or what it did. */
function told(event: Event): { attachment?: Attachment | undefined; uid?: string; detail: string } {
  const { addressAllocated, addressTransferred, addressReleased, addressBound, addressUnbound, allocationRefused } =
    event;
  if (addressAllocated) return { ...addressAllocated, detail: causeText(addressAllocated.cause) };
  if (addressTransferred) return { ...addressTransferred, detail: `from uid ${addressTransferred.fromUid}` };
  if (addressReleased)
    return { ...addressReleased, detail: join(': ', causeText(addressReleased.cause), addressReleased.evidence) };
  if (addressBound) {
    const { interface: name, node, containerId } = addressBound;
    return { ...addressBound, detail: `${name} of container ${short(containerId)} on ${node}` };
  }
  if (addressUnbound) {
    const { interface: name, containerId, cause } = addressUnbound;
    // That its container was deleted goes without saying
    const usual = ['UNBIND_CAUSE_UNSPECIFIED', 'UNBIND_CAUSE_CONTAINER_DELETED'].includes(cause);
    const why = usual ? '' : causeText(cause);
    return { ...addressUnbound, detail: join(': ', why, `${name} of container ${short(containerId)}`) };
  }
  if (allocationRefused)
    return { ...allocationRefused, detail: join(': ', allocationRefused.reason, allocationRefused.message) };
  return { detail: withoutPod(event) || configuration(event) || ofTheLedger(event) };
}

/** What an event says that is about an address, and about no Pod. */
function withoutPod(event: Event): string {
  const { addressReserved, reservationCancelled, addressQuarantined, quarantineLifted, claimsDropped } = event;
  if (addressReserved) return join(': ', `for ${addressReserved.reservedFor}`, addressReserved.reason);
  if (reservationCancelled)
    return join(': ', `no more for ${reservationCancelled.reservedFor}`, reservationCancelled.reason);
  if (addressQuarantined) {
    const { seenMac, seenAt, reason } = addressQuarantined;
    const who = seenMac === '' && seenAt === '' ? '' : join(' at ', `${seenMac || 'somebody'} seen`, seenAt);
    return join(': ', who, reason);
  }
  if (claimsDropped) return `idle for long, no key is kept: ${claimsDropped.addresses.length} in all`;
  return quarantineLifted?.reason ?? '';
}

/** What is in force from then on. */
function configuration({ subnetConfigured, poolConfigured, poolRetired }: Event): string {
  if (subnetConfigured?.spec) return subnetText(subnetConfigured.spec);
  if (poolConfigured) return join(': ', `pool ${poolConfigured.pool}`, poolConfigured.spec?.ips.join(' ') ?? '');
  return poolRetired ? `pool ${poolRetired.pool}` : '';
}

/** A subnet as it is configured. */
export function subnetText({ cidrBlock, provider, excludeIps }: SubnetSpec): string {
  const without = excludeIps.length > 0 ? `without ${excludeIps.join(' ')}` : '';
  return join(', ', cidrBlock, `provider ${provider}`, without);
}

/** What an event says of the ledger itself. */
function ofTheLedger({ ledgerCreated, segmentSealed, ledgerRestored, keyRotated }: Event): string {
  if (ledgerCreated) return `ledger ${ledgerCreated.ledger}`;
  if (segmentSealed) return `events ${segmentSealed.from} to ${segmentSealed.to} are in ${segmentSealed.archive}`;
  if (ledgerRestored) {
    const { epoch, seq, lostSeq, reason } = ledgerRestored;
    const lost = lostSeq > seq ? `events ${seq + 1} to ${lostSeq} at least are lost` : '';
    return join(': ', join(', ', `epoch ${epoch}, found to end at ${seq}`, lost), reason);
  }
  return keyRotated ? `checkpoints are signed with key ${keyRotated.keyId}` : '';
}

/** The texts that are not empty, joined. */
export const join = (between: string, ...parts: string[]): string => parts.filter((part) => part !== '').join(between);

/** As container runtimes print it. */
export const short = (containerId: string): string => containerId.slice(0, 12);

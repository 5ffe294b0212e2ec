/** What each event states: its Pod, and its cause or effect. */
import { applyEventTable, type EventTable } from '../../proto/event-table.ts';
import type { Attachment, Event } from '../../proto/generated/ipledger.ts';
import { formatCause, formatSubnet, joinNonEmpty, shortContainerId } from './texts.ts';

export interface EventSummary {
  readonly attachment?: Attachment | undefined;
  readonly uid?: string;
  readonly detail: string;
}

/** The summary of an event. That of a type which only a newer program has is empty. */
export const summarizeEvent = (event: Event): EventSummary => applyEventTable(summaries, event) ?? { detail: '' };

/** The Pod of each event type, and its cause or effect. */
const summaries: EventTable<EventSummary> = {
  addressAllocated: (data) => ({ ...data, detail: formatCause(data.cause) }),
  addressTransferred: (data) => ({ ...data, detail: `from uid ${data.fromUid}` }),
  addressReleased: (data) => ({ ...data, detail: joinNonEmpty(': ', formatCause(data.cause), data.evidence) }),
  addressBound: (data) => ({ ...data, detail: `${formatContainer(data)} on ${data.node}` }),
  addressUnbound: (data) => {
    // CONTAINER_DELETED is the default cause
    const isDefault = ['UNBIND_CAUSE_UNSPECIFIED', 'UNBIND_CAUSE_CONTAINER_DELETED'].includes(data.cause);
    return {
      ...data,
      detail: joinNonEmpty(': ', isDefault ? '' : formatCause(data.cause), data.evidence, formatContainer(data)),
    };
  },
  allocationRefused: (data) => ({ ...data, detail: joinNonEmpty(': ', data.reason, data.message) }),
  addressReserved: ({ reservedFor, reason }) => ({ detail: joinNonEmpty(': ', `for ${reservedFor}`, reason) }),
  reservationCancelled: ({ reservedFor, reason }) => ({
    detail: joinNonEmpty(': ', `no longer for ${reservedFor}`, reason),
  }),
  addressQuarantined: ({ seenMac, seenAt, reason }) => {
    const seen = seenMac === '' && seenAt === '' ? '' : joinNonEmpty(' on ', `${seenMac || 'a device'} seen`, seenAt);
    return { detail: joinNonEmpty(': ', seen, reason) };
  },
  quarantineLifted: ({ reason }) => ({ detail: reason }),
  claimsDropped: ({ addresses }) => ({ detail: `idle for long, ${addresses.length} keys deleted` }),
  subnetConfigured: ({ spec }) => ({ detail: spec ? formatSubnet(spec) : '' }),
  subnetRetired: () => ({ detail: '' }),
  poolConfigured: ({ pool, spec }) => ({ detail: joinNonEmpty(': ', `pool ${pool}`, spec?.ips.join(' ') ?? '') }),
  poolRetired: ({ pool }) => ({ detail: `pool ${pool}` }),
  ledgerCreated: ({ ledger }) => ({ detail: `ledger ${ledger}` }),
  segmentSealed: ({ from, to, archive }) => ({ detail: `events ${from} to ${to} are in ${archive}` }),
  historyDropped: ({ to, until, reason }) => ({
    detail: `events up to ${to}, of ${until}, are no longer kept: ${reason}`,
  }),
  ledgerRestored: ({ epoch, seq, lostSeq, reason }) => {
    const lost = lostSeq > seq ? `at least events ${seq + 1} to ${lostSeq} are lost` : '';
    return {
      detail: joinNonEmpty(': ', joinNonEmpty(', ', `epoch ${epoch}, restored up to event ${seq}`, lost), reason),
    };
  },
  keyRotated: ({ keyId }) => ({ detail: `checkpoints are signed with key ${keyId}` }),
};

const formatContainer = ({ interface: name, containerId }: { interface: string; containerId: string }): string =>
  `${name} of container ${shortContainerId(containerId)}`;

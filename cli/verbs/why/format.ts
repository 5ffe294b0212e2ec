/** Formats the report about a Pod: diagnosis, state in the cluster and in OVN, then its history. */
import type { Allocation, Event, WriteObstacle } from '../../../proto/generated/ipledger.ts';
import { truncateUtf8 } from '../../../lib/cut-middle.ts';
import { escapeControlCharacters } from '../../output/control-characters.ts';
import { joinNonEmpty, shortContainerId, formatCause } from '../../../lib/ledger-text/texts.ts';
import { diagnosePod, stageOf } from './diagnosis.ts';
import type { PodHistory } from './pod-history.ts';
import type { PodInCluster } from './pod-in-cluster.ts';

export interface PodReport {
  readonly name: string;
  /** The Pods of the name, newest first. */
  readonly pods: readonly PodHistory[];
  readonly pod: PodInCluster | null | undefined;
  /** The current allocations of the name. */
  readonly allocations: readonly Allocation[];
  /** Why releases are halted in its namespace. */
  readonly halt?: string | undefined;
  /** Why nothing can be written to the ledger. */
  readonly obstacle?: WriteObstacle | undefined;
  /** Sentences about its logical ports; empty if it has none, or OVN was not read. */
  readonly logicalPorts: readonly string[];
}

/** Formats an instant. */
type Format = (instant: string) => string;
/** Shortens a text that is above in the report. */
type Shorten = (text: string) => string;

/** The report, ending in a newline. */
export function formatPodReport({ name, pods, logicalPorts, ...found }: PodReport, format: Format): string {
  const [history] = pods;
  const { pod } = found;
  const diagnosis = diagnosePod({ history, ...found });
  const shorten = shortenRepeats(diagnosis.join('\n'));
  const blocks = [
    [name, ...diagnosis.map((sentence) => `  ${escapeControlCharacters(sentence)}`)],
    ...(pod ? [formatPodInCluster(pod, format, shorten)] : []),
    ...(logicalPorts.length > 0
      ? [['in OVN', ...logicalPorts.map((sentence) => `  ${escapeControlCharacters(sentence)}`)]]
      : []),
    ...pods.map((each) => [formatHeader(each), ...each.events.map((event) => formatEventLine(event, format, shorten))]),
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** 60 characters with a mark. */
const startBytes = 63;
/** A shorter text is not much longer than its start. */
const shortLength = 80;

/** Replaces a long text that is also in `above` by its start. */
const shortenRepeats =
  (above: string): Shorten =>
  (text) =>
    text.length > shortLength && above.includes(text) ? `${truncateUtf8(text, startBytes)} (as above)` : text;

/** The report about a Pod while the ledger cannot be read, ending in a newline. */
export function formatClusterPart(
  { name, pod }: { readonly name: string; readonly pod: PodInCluster },
  format: Format,
): string {
  const gap = '  the ledger cannot be read: this is only what the cluster has';
  return `${[name, gap, '', ...formatPodInCluster(pod, format)].join('\n')}\n`;
}

function formatPodInCluster(
  { uid, node, nodeFailure, phase, waiting, createdAt, deletedAt, events }: PodInCluster,
  format: Format,
  shorten: Shorten = String,
): string[] {
  const state = joinNonEmpty(
    ', ',
    phase,
    ...waiting,
    node === '' ? 'not scheduled' : `on node ${node}${nodeFailure === undefined ? '' : `, which ${nodeFailure}`}`,
  );
  const times = joinNonEmpty(
    ', ',
    `created ${format(createdAt)}`,
    deletedAt === '' ? '' : `being deleted since ${format(deletedAt)}`,
  );
  return [
    `in the cluster (uid ${uid})`,
    `  ${escapeControlCharacters(joinNonEmpty(', ', state, times))}`,
    ...events.map((event) => {
      const stage = stageOf(event);
      const message = `${stage}${shorten(event.message.slice(stage.length))}`;
      return `  ${format(event.at)}  Event ${escapeControlCharacters(`${event.reason}: ${message}`)}`;
    }),
  ];
}

const formatHeader = ({ uid, owner }: PodHistory): string =>
  `in the ledger (uid ${joinNonEmpty(', ', uid || 'unknown', owner ? `of ${owner.kind}/${owner.name}` : '')})`;

const formatEventLine = (event: Event, format: Format, shorten: Shorten): string =>
  `  ${format(event.at)}  ${escapeControlCharacters(describeEvent(event, shorten))}  (event ${event.seq})`;

function describeEvent(event: Event, shorten: Shorten): string {
  const { addressAllocated, addressTransferred, addressReleased, addressBound, addressUnbound, allocationRefused } =
    event;
  const addresses = event.before.map(({ address }) => address).join(' and ');
  if (allocationRefused)
    return `request for an address of ${allocationRefused.attachment?.provider ?? ''} rejected: ${shorten(allocationRefused.message)}`;
  if (addressAllocated) {
    const { attachment, cause, node } = addressAllocated;
    const where = node === '' ? '' : ` on node ${node}`;
    return `${addresses} of subnet ${event.subnet} allocated for ${attachment?.provider ?? ''}${where} (${formatCause(cause)})`;
  }
  if (addressTransferred)
    return `${addresses} of subnet ${event.subnet} transferred from uid ${addressTransferred.fromUid}`;
  if (addressBound) {
    const { containerId, interface: name, node } = addressBound;
    return `${addresses} bound to container ${shortContainerId(containerId)} on node ${node} as ${name}`;
  }
  if (addressUnbound) {
    const { containerId, cause, evidence } = addressUnbound;
    return `${addresses} unbound from container ${shortContainerId(containerId)} (${joinNonEmpty(': ', formatCause(cause), evidence)})`;
  }
  if (addressReleased)
    return `${addresses} released: ${joinNonEmpty(': ', formatCause(addressReleased.cause), addressReleased.evidence)}`;
  return event.type;
}

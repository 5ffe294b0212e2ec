/** Formats a recovery: the plan, the lost events, and what the operator must restore. */
import type { GetStatusReply } from '../../../proto/generated/ipledger.ts';
import type { RejectedObject } from '../../import/apply-plan.ts';
import { type Answer, formatCount } from '../../output/answer.ts';
import {
  createConflictListing,
  createRejectionListing,
  formatQuarantines,
  toAttachmentMessage,
  toConflictMessage,
} from '../../import/format.ts';
import { formatAllocation, podKey } from '../../output/format.ts';
import { describeFreeze } from '../../../lib/ledger-text/freeze-text.ts';
import { formatPodName, shortContainerId } from '../../../lib/ledger-text/texts.ts';
import { formatTable, textColumns } from '../../output/table.ts';
import { formatTime, type TimeZone } from '../../time/times.ts';
import { keepsFrozen } from './apply-recovery.ts';
import type { MissingEvents } from './missing-events.ts';
import type { RecoveryPlan } from './recovery-plan.ts';

export interface RecoveryOutcome {
  /** The status before the recovery. */
  readonly status: GetStatusReply;
  /** The lost events, from an export; undefined without an export. */
  readonly missingEvents: MissingEvents | undefined;
  readonly applied: boolean;
  readonly rejected: readonly RejectedObject[];
}

export function formatRecovery(
  recovery: RecoveryPlan,
  { status, missingEvents, applied, rejected }: RecoveryOutcome,
): Answer {
  const { subnets, pools, releases, staleBindings, imports, conflicts, quarantines } = recovery;
  const listing = rejected.length > 0 ? createRejectionListing(rejected) : { columns, rows: formatRows(recovery) };
  const decisions = createConflictListing(conflicts);
  return {
    content: {
      position: status.position,
      freeze: status.freeze,
      lostEvents: findLostEventRange(status),
      missingEvents,
      applied,
      rejected,
      subnets: subnets.map(({ name }) => name),
      pools: pools.map(({ name }) => name),
      releases: releases.map(({ allocation, reason }) => ({ ...allocation, reason })),
      staleBindings,
      imports: imports.map(toAttachmentMessage),
      conflicts: conflicts.map(toConflictMessage),
      quarantines,
    },
    table: (zone) => {
      const list = listing.rows.length > 0 ? formatTable(listing, zone) : '';
      const end = applied && !keepsFrozen(rejected) ? ': done' : '';
      const leftOut = conflicts.length > 0 ? `\n${formatTable(decisions, zone)}${formatQuarantines(quarantines)}` : '';
      const manualSteps = missingEvents ? formatMissingEvents(missingEvents) : status.freeze ? notInCluster : '';
      return `${list}${formatStatus(status, zone)}${summarize(recovery)}${end}\n${leftOut}${manualSteps}`;
    },
    listing: () => listing,
    note: applied ? undefined : 'nothing was changed: add --apply --reason … to recover',
  };
}

const columns = textColumns('WHAT', 'OF', 'HOW');

function formatStatus(status: GetStatusReply, zone: TimeZone): string {
  const { position, at, freeze } = status;
  const current = `the ledger is at epoch ${position?.epoch ?? 0}, event ${position?.seq ?? 0} of ${formatTime(at, zone)}`;
  if (!freeze) return `${current}, and not frozen: no restore was detected\n`;
  const since = `frozen since ${formatTime(freeze.reportedAt, zone)}`;
  const lost = findLostEventRange(status);
  return [
    `${current}, and ${since}: ${describeFreeze(freeze)}\n`,
    ...(lost ? [`${formatLostEventRange(lost, zone)}\n`] : []),
  ].join('');
}

const lostBindings =
  'Each node-agent binds the addresses of its containers again within 30 s. If a node is lost before that, quarantine the addresses of its Pods\n';

/** The heading of objects that exist in the ledger only. */
const notInCluster = `
The cluster does not show these. Restore those of the lost time manually:
  reservations  ipledger reserve ADDRESS --for OWNER --reason WHY   ended ones: ipledger unreserve
  quarantines   ipledger quarantine ADDRESS --reason WHY            ended ones: ipledger unquarantine
With an export made after the backup, ipledger recover --from-export FILE prints these commands.
${lostBindings}`;

function formatMissingEvents({ types, commands }: MissingEvents): string {
  const counts = Object.entries(types).map(([type, count]) => `${count} ${type}`);
  if (counts.length === 0) return '\nthe ledger has all events of the export\n';
  const header = `\nthe ledger lacks these events of the export: ${counts.join(', ')}\n`;
  if (commands.length === 0) return `${header}none of them is an operator's\n${lostBindings}`;
  const lines = commands.map((each) => `  ${each}\n`).join('');
  return `${header}run these commands of operators again when the ledger is no longer frozen:\n${lines}${lostBindings}`;
}

const formatRows = ({ subnets, pools, releases, staleBindings, imports }: RecoveryPlan): string[][] => [
  ...subnets.map(({ name, spec }) => ['missing Subnet', name, `configure ${spec.cidrBlock}`]),
  ...pools.map(({ name, spec }) => ['missing IPPool', name, `configure ${spec.ips.join()} of ${spec.subnet}`]),
  ...releases.map(({ allocation, reason }) => [
    'wrong allocation',
    `Pod ${formatPodName(allocation.attachment)}`,
    `release ${formatAllocation(allocation)}: ${reason}`,
  ]),
  ...staleBindings.map(({ attachment, subnet, addresses, binding }) => [
    'stale binding',
    `Pod ${formatPodName(attachment)}`,
    `end: container ${shortContainerId(binding?.containerId ?? '')} on node ${binding?.node} had ${addresses.join()} of subnet ${subnet}`,
  ]),
  ...imports.map(({ holder, addresses, subnet, provider }) => [
    'missing allocation',
    `Pod ${podKey(holder)}`,
    `import ${addresses.join()} of subnet ${subnet} (${provider}, uid ${holder.uid})`,
  ]),
];

const summarize = ({ subnets, pools, releases, imports, conflicts }: RecoveryPlan): string =>
  [
    `${formatCount(subnets.length, 'Subnet')} and ${formatCount(pools.length, 'IPPool')} to configure`,
    `${formatCount(releases.length, 'allocation')} to release`,
    `${formatCount(imports.length, 'attachment')} to import`,
    ...(conflicts.length > 0 ? [`${formatCount(conflicts.length, 'conflict')} left out`] : []),
  ].join(', ');

/** Events that a client has seen, and the ledger lacks. */
export interface LostEventRange {
  readonly fromSeq: number;
  /** The newest event that a client has seen. There may have been later ones. */
  readonly toSeq: number;
  /** Times before and after the events, RFC 3339. */
  readonly after: string;
  readonly before: string;
}

/**
 * Returns undefined if the ledger is not frozen or was recovered already, and if it has more events
 * than the client has seen. Events that the frozen ledger recorded reuse lost sequence numbers, and
 * do not count.
 */
export function findLostEventRange({ position, at, freeze }: GetStatusReply): LostEventRange | undefined {
  const known = freeze?.known;
  if (!known || known.epoch !== position?.epoch) return undefined;
  const { epoch, seq } = freeze.head ?? position;
  if (known.epoch !== epoch || known.seq <= seq) return undefined;
  return { fromSeq: seq + 1, toSeq: known.seq, after: freeze.head ? freeze.headAt : at, before: freeze.reportedAt };
}

export function formatLostEventRange({ fromSeq, toSeq, after, before }: LostEventRange, zone: TimeZone): string {
  const count = toSeq - fromSeq + 1;
  const which = count === 1 ? `event ${fromSeq}` : `events ${fromSeq} to ${toSeq}`;
  return `lost: ${which}, at least ${count}, of the time from ${formatTime(after, zone)} to ${formatTime(before, zone)}`;
}

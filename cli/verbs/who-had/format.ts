/** Describes an address at an instant. */
import type {
  AllocationPeriod,
  BindingPeriod,
  RestrictionPeriod,
} from '../../allocation-periods/allocation-periods.ts';
import type { SubnetHolder } from '../../allocation-periods/find-holder.ts';
import { escapeControlCharacters } from '../../output/control-characters.ts';
import { formatPodName, joinNonEmpty, shortContainerId, formatCause } from '../../../lib/ledger-text/texts.ts';
import { formatTime, type TimeZone } from '../../time/times.ts';

export const formatOwner = ({ owner }: AllocationPeriod): string => (owner ? `${owner.kind}/${owner.name}` : '');

const causeText: Readonly<Record<string, string>> = {
  ALLOCATION_CAUSE_DYNAMIC: 'dynamic: the Pod requested any address',
  ALLOCATION_CAUSE_STATIC: 'static: the Pod requested this address',
  ALLOCATION_CAUSE_POOL: 'pool: the Pod requested an address of a list or a pool',
  ALLOCATION_CAUSE_RESERVATION: 'reservation: the address was reserved for the Pod',
  ALLOCATION_CAUSE_IMPORT: 'import: imported from another IPAM',
};

/** Describes why the address was allocated. */
export function formatGrant({ grant }: AllocationPeriod): string {
  const transfer = grant.fromUid === '' ? '' : `transferred from its predecessor (uid ${grant.fromUid})`;
  return joinNonEmpty('; ', transfer, causeText[grant.cause] ?? formatCause(grant.cause));
}

/** Describes why the address was released; "" before the release. */
export function formatRelease({ release }: AllocationPeriod): string {
  if (!release) return '';
  if (release.toUid !== '') return `transferred to its successor (uid ${release.toUid})`;
  return joinNonEmpty(': ', formatCause(release.cause), release.evidence);
}

/** The style of printed times. */
interface TimeStyle {
  readonly zone: TimeZone;
  readonly exactly: boolean;
}

/** A header, and a line for each fact. */
export function formatAddressAtInstant(
  { address, instant }: { readonly address: string; readonly instant: string },
  found: SubnetHolder,
  { zone, exactly }: TimeStyle,
): string {
  const format = (time: string): string => formatTime(time, zone, exactly);
  const header = `${address} in subnet ${found.subnet} at ${format(instant)}${found.holder ? '' : ': no holder'}`;
  const facts = [
    ...(found.holder ? describeHolder(found.holder, format) : describeGap(found, format)),
    ...found.restrictions.map((each) => describeRestriction(each, format)),
    ...describeHistoryStart(found, format),
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  const lines = facts.map(([name, text]) => `  ${name.padEnd(width)}  ${escapeControlCharacters(text)}`.trimEnd());
  return `${[header, ...lines].join('\n')}\n`;
}

type Fact = readonly [name: string, text: string];
type Format = (time: string) => string;

function describeHolder(holder: AllocationPeriod, format: Format): Fact[] {
  const { podUid, owner, node, mac, from, until, grant, release, attachment } = holder;
  const facts: Fact[] = [
    ['Pod', `${formatPodName(attachment)} (uid ${podUid})`],
    ['owner', owner ? `${formatOwner(holder)} (uid ${owner.uid})` : 'none'],
    ['attachment', joinNonEmpty(', ', attachment?.provider ?? '', mac === '' ? '' : `MAC ${mac}`)],
    ['node', node === '' ? 'unknown: no container was bound' : node],
    ...holder.bindings.map((binding): Fact => ['container', describeBinding(binding, format)]),
    ['from', `${format(from)}, event ${grant.seq} by ${grant.actor}`],
    ['allocated because', formatGrant(holder)],
  ];
  if (!release) return [...facts, ['until', 'now: still allocated']];
  return [
    ...facts,
    ['until', `${format(until)}, event ${release.seq} by ${release.actor}`],
    ['released because', formatRelease(holder)],
  ];
}

const unbindText: Readonly<Record<string, string>> = {
  UNBIND_CAUSE_CONTAINER_DELETED: '',
  UNBIND_CAUSE_UNSPECIFIED: 'when another Pod got the address',
};

function describeBinding({ containerId, interface: name, from, until, unbindCause }: BindingPeriod, format: Format) {
  const why = unbindText[unbindCause] ?? formatCause(unbindCause);
  const end = until === '' ? 'and still bound' : joinNonEmpty(', ', `until ${format(until)}`, why);
  return `${shortContainerId(containerId)}, ${name}, from ${format(from)} ${end}`;
}

function describeGap({ before, after, lingeringBindings, historyStartsAt }: SubnetHolder, format: Format): Fact[] {
  const unknown = historyStartsAt === '' ? 'no Pod' : 'unknown';
  return [
    ...lingeringBindings.map((binding): Fact => [
      'but',
      `its last container may still have answered on it: ${describeBinding(binding, format)} on node ${binding.node}`,
    ]),
    [
      'before',
      before
        ? `${formatPodName(before.attachment)} (uid ${before.podUid}), until ${format(before.until)}: ${formatRelease(before)}`
        : unknown,
    ],
    [
      'after',
      after ? `${formatPodName(after.attachment)} (uid ${after.podUid}), from ${format(after.from)}` : 'no Pod yet',
    ],
  ];
}

function describeRestriction({ reserved, quarantined, from, until }: RestrictionPeriod, format: Format): Fact {
  const time = `from ${format(from)}${until === '' ? '' : ` until ${format(until)}`}`;
  if (reserved) return ['reserved', joinNonEmpty(', ', `for ${reserved.reservedFor}`, reserved.reason, time)];
  const { seenMac = '', seenAt = '', reason = '' } = quarantined ?? {};
  return ['quarantined', joinNonEmpty(', ', reason, seenMac && `${seenMac} seen`, seenAt && `on ${seenAt}`, time)];
}

const describeHistoryStart = ({ historyStartsAt }: SubnetHolder, format: Format): Fact[] =>
  historyStartsAt === ''
    ? []
    : [
        [
          'unknown',
          `events before ${format(historyStartsAt)}, such as reservations and quarantines: they were dropped, or are sealed, and no archive is available`,
        ],
      ];

/** What an address was at an instant, in words. */
import { causeText } from '../cause.ts';
import { join, podOf, short } from '../event.ts';
import type { Mark, Tenure, Use } from '../tenure.ts';
import { printable } from '../printable.ts';
import { showTime, type Zone } from '../times.ts';
import type { Found } from './look-up.ts';

export const podText = ({ attachment }: Tenure): string => (attachment ? podOf(attachment) : '');

export const ownerText = ({ owner }: Tenure): string => (owner ? `${owner.kind}/${owner.name}` : '');

/** Why it was given. */
export function givenText({ given }: Tenure): string {
  const causes: Readonly<Record<string, string>> = {
    ALLOCATION_CAUSE_DYNAMIC: 'dynamic: it asked for any address',
    ALLOCATION_CAUSE_STATIC: 'static: it asked for this very address',
    ALLOCATION_CAUSE_POOL: 'pool: it asked for one of a list or a pool',
    ALLOCATION_CAUSE_RESERVATION: 'reservation: it was reserved for it',
    ALLOCATION_CAUSE_IMPORT: 'import: taken over from another system',
  };
  const passedOn = given.fromUid === '' ? '' : `passed on from its predecessor (uid ${given.fromUid})`;
  return join('; ', passedOn, causes[given.cause] ?? causeText(given.cause));
}

/** Why it was lost; '' while it is not. */
export function lostText({ lost }: Tenure): string {
  if (!lost) return '';
  if (lost.toUid !== '') return `passed on to its successor (uid ${lost.toUid})`;
  return join(': ', causeText(lost.cause), lost.evidence);
}

/** How times are shown. */
interface Shown {
  readonly zone: Zone;
  readonly exactly: boolean;
}

/** The whole story, a line a fact. */
export function tell(
  { address, instant }: { readonly address: string; readonly instant: string },
  then: Found,
  { zone, exactly }: Shown,
): string {
  const when = (time: string): string => showTime(time, zone, exactly);
  const head = `${address} in subnet ${then.subnet} at ${when(instant)}`;
  const facts = then.holder ? ofHolder(then.holder, when) : ofNobody(then, when);
  const all = [...facts, ...then.marks.map((mark) => ofMark(mark, when)), ...ofUnknown(then, when)];
  const width = Math.max(...all.map(([name]) => name.length));
  const lines = all.map(([name, text]) => `  ${name.padEnd(width)}  ${printable(text)}`.trimEnd());
  return `${[`${head}${then.holder ? '' : ': nobody had it'}`, ...lines].join('\n')}\n`;
}

type Fact = readonly [name: string, text: string];
type When = (time: string) => string;

function ofHolder(holder: Tenure, when: When): Fact[] {
  const { podUid, owner, node, mac, from, until, given, lost, attachment } = holder;
  const facts: Fact[] = [
    ['Pod', `${podText(holder)} (uid ${podUid})`],
    ['owner', owner ? `${ownerText(holder)} (uid ${owner.uid})` : 'none'],
    ['attachment', join(', ', attachment?.provider ?? '', mac === '' ? '' : `MAC ${mac}`)],
    ['node', node === '' ? 'not known: no container was ever set up' : node],
    ...holder.uses.map((use): Fact => ['container', useText(use, when)]),
    ['from', `${when(from)}, event ${given.seq} by ${given.actor}`],
    ['why given', givenText(holder)],
  ];
  if (!lost) return [...facts, ['until', 'now: it still has it']];
  return [...facts, ['until', `${when(until)}, event ${lost.seq} by ${lost.actor}`], ['why lost', lostText(holder)]];
}

const endText: Readonly<Record<string, string>> = {
  UNBIND_CAUSE_CONTAINER_DELETED: '',
  UNBIND_CAUSE_UNSPECIFIED: 'when somebody else was given the address',
};

function useText({ containerId, interface: name, from, until, ended }: Use, when: When): string {
  const why = endText[ended] ?? causeText(ended);
  const end = until === '' ? 'and still there' : join(', ', `until ${when(until)}`, why);
  return `${short(containerId)}, ${name}, from ${when(from)} ${end}`;
}

function ofNobody({ before, after, answering, unknownBefore }: Found, when: When): Fact[] {
  const facts: Fact[] = answering.map((use) => [
    'but',
    `its last container may still have answered on it: ${useText(use, when)} on node ${use.node}`,
  ]);
  if (before)
    facts.push([
      'before',
      `${podText(before)} (uid ${before.podUid}), until ${when(before.until)}: ${lostText(before)}`,
    ]);
  else facts.push(['before', unknownBefore === '' ? 'nobody' : 'not known']);
  if (after) facts.push(['after', `${podText(after)} (uid ${after.podUid}), from ${when(after.from)}`]);
  else facts.push(['after', 'nobody yet']);
  return facts;
}

function ofMark({ reserved, quarantined, from, until }: Mark, when: When): Fact {
  const time = `from ${when(from)}${until === '' ? '' : ` until ${when(until)}`}`;
  if (reserved) return ['reserved', join(', ', `for ${reserved.reservedFor}`, reserved.reason, time)];
  const { seenMac = '', seenAt = '', reason = '' } = quarantined ?? {};
  return ['quarantined', join(', ', reason, seenMac && `${seenMac} seen`, seenAt && `at ${seenAt}`, time)];
}

const ofUnknown = ({ unknownBefore }: Found, when: When): Fact[] =>
  unknownBefore === ''
    ? []
    : [
        [
          'not known',
          `what happened before ${when(unknownBefore)}, as that it was reserved or quarantined: it is sealed`,
        ],
      ];

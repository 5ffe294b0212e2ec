/** The story of a Pod's name: of each Pod that had it, what it asked for, was given, used and gave back. */
import type { Attachment, Event, Owner } from '../../proto/ipledger.ts';
import { type Tenure, tenuresOf } from '../tenure.ts';

/** A refusal that nothing followed. */
export interface Refusal {
  readonly seq: number;
  readonly at: string;
  readonly attachment: Attachment | undefined;
  readonly reason: string;
  readonly message: string;
}

/** One Pod, by its uid. */
export interface Life {
  readonly uid: string;
  readonly owner: Owner | undefined;
  /** What happened to it, oldest first. */
  readonly events: readonly Event[];
  /** What it had and has, oldest first. */
  readonly tenures: readonly Tenure[];
  /** What it asked for and was not given until now. */
  readonly refusals: readonly Refusal[];
}

/** The Pods of a name, the latest first. @param events all that are known of the name, newest first. */
export function livesOf(events: readonly Event[]): Life[] {
  const tenures = [...Map.groupBy(events, attachmentKey).values()].flatMap((each) => tenuresOf(each).tenures);
  const byUid = Map.groupBy(events.toReversed(), uidOf(events));
  const lives = [...byUid].map(([uid, told]): Life => {
    const own = tenures.filter(({ podUid }) => podUid === uid).toSorted((a, b) => a.given.seq - b.given.seq);
    const owner = own.findLast((tenure) => tenure.owner)?.owner;
    return { uid, owner, events: told, tenures: own, refusals: standing(told, own) };
  });
  return lives.toSorted((a, b) => firstSeq(b) - firstSeq(a));
}

/** Where its life began, for the order of lives: a container of an earlier Pod may end late. What is of no known Pod comes last. */
const firstSeq = ({ uid, events }: Life): number => (uid === '' ? 0 : (events[0]?.seq ?? 0));

/** What an event is about, as far as a Pod is concerned. */
const aboutOf = (event: Event) =>
  event.addressAllocated ??
  event.addressTransferred ??
  event.addressReleased ??
  event.addressBound ??
  event.allocationRefused;

function attachmentKey(event: Event): string {
  const { provider = '', ordinal = 0 } = (aboutOf(event) ?? event.addressUnbound)?.attachment ?? {};
  return `${provider}/${ordinal}`;
}

/** The end of a binding names no uid, but the container that it was of. */
function uidOf(events: readonly Event[]): (event: Event) => string {
  const bound = new Map<string, string>();
  for (const { addressBound } of events)
    if (addressBound) bound.set(`${addressBound.containerId}/${addressBound.interface}`, addressBound.uid);
  return (event) => {
    const { addressUnbound } = event;
    if (!addressUnbound) return aboutOf(event)?.uid ?? '';
    return bound.get(`${addressUnbound.containerId}/${addressUnbound.interface}`) ?? '';
  };
}

/** The last refusal of each attachment that was given nothing since. */
function standing(events: readonly Event[], tenures: readonly Tenure[]): Refusal[] {
  const last = new Map<string, Refusal>();
  for (const event of events) {
    const { allocationRefused: refused, seq, at } = event;
    if (refused)
      last.set(attachmentKey(event), {
        seq,
        at,
        attachment: refused.attachment,
        reason: refused.reason,
        message: refused.message,
      });
  }
  const given = (refusal: Refusal): boolean =>
    tenures.some(
      (tenure) =>
        tenure.given.seq > refusal.seq &&
        tenure.attachment?.provider === refusal.attachment?.provider &&
        tenure.attachment?.ordinal === refusal.attachment?.ordinal,
    );
  return [...last.values()].filter((refusal) => !given(refusal));
}

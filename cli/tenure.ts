/** Who had an address, from when to when: its events, put together. */
import type {
  AddressQuarantined,
  AddressReserved,
  AllocationCause,
  Attachment,
  Event,
  Owner,
  ReleaseCause,
  UnbindCause,
} from '../proto/ipledger.ts';

/** A container that was set up with the address. */
export interface Use {
  readonly containerId: string;
  readonly interface: string;
  readonly node: string;
  readonly from: string;
  /** "" while it lasts. */
  readonly until: string;
  readonly ended: UnbindCause;
}

/** Why it was given. */
export interface Given {
  readonly seq: number;
  readonly cause: AllocationCause;
  readonly actor: string;
  /** Passed on from the Pod's predecessor under its name, by uid; "" for none. */
  readonly fromUid: string;
}

/** Why it was lost. */
export interface Lost {
  readonly seq: number;
  readonly actor: string;
  readonly cause: ReleaseCause;
  readonly evidence: string;
  /** Passed on to the Pod's successor under its name, by uid; "" for none. */
  readonly toUid: string;
}

/** A Pod's time with an address. */
export interface Tenure {
  readonly subnet: string;
  /** All that were given together: one of each family. */
  readonly addresses: readonly string[];
  readonly attachment: Attachment | undefined;
  readonly podUid: string;
  readonly owner: Owner | undefined;
  /** Where the Pod ran, as far as the ledger was told. */
  readonly node: string;
  readonly mac: string;
  readonly from: string;
  /** "" while it lasts. */
  readonly until: string;
  readonly given: Given;
  readonly lost: Lost | undefined;
  /** Oldest first. They may outlast it: who was told to let go has not yet. */
  readonly uses: readonly Use[];
}

/** A time in which the address was kept back. */
export interface Mark {
  readonly from: string;
  /** "" while it lasts. */
  readonly until: string;
  readonly reserved?: AddressReserved;
  readonly quarantined?: AddressQuarantined;
}

/** All that is known of one address in one subnet; each list with the oldest first. */
export interface Tenures {
  readonly tenures: readonly Tenure[];
  readonly marks: readonly Mark[];
}

type Open<Of> = { -readonly [Name in keyof Of]: Of[Name] };
type OpenTenure = Open<Omit<Tenure, 'uses'>> & { uses: Open<Use>[] };

/** From the events of one address in one subnet, newest first. What began before the oldest of them is left out. */
export function tenuresOf(events: readonly Event[]): Tenures {
  const tenures: OpenTenure[] = [];
  const marks: Open<Mark>[] = [];
  for (const event of events.toReversed()) {
    begin(tenures, event);
    use(tenures, event);
    end(tenures, event);
    mark(marks, event);
  }
  return { tenures, marks };
}

function begin(tenures: OpenTenure[], event: Event): void {
  const grant = event.addressAllocated ?? event.addressTransferred;
  if (!grant) return;
  const fromUid = event.addressTransferred?.fromUid ?? '';
  const predecessor = tenures.at(-1);
  const { seq, actor, at, subnet } = event;
  if (predecessor?.until === '') {
    predecessor.until = at;
    predecessor.lost = { seq, actor, cause: 'RELEASE_CAUSE_UNSPECIFIED', evidence: '', toUid: grant.uid };
  }
  const { attachment, uid: podUid, owner, node, mac, cause } = grant;
  const addresses = grant.addresses.map(({ address }) => address);
  // Its containers go on with it: a transfer is to the same Pod by name.
  const uses = fromUid === '' ? [] : (predecessor?.uses.filter(({ until }) => until === '') ?? []);
  const given = { seq, cause, actor, fromUid };
  const what = { subnet, addresses, attachment, podUid, owner, node, mac, given };
  tenures.push({ ...what, from: at, until: '', lost: undefined, uses });
}

function use(tenures: OpenTenure[], { addressBound, addressUnbound, at }: Event): void {
  if (addressBound) {
    const tenure = tenures.find(({ given }) => given.seq === addressBound.alloc);
    if (!tenure) return;
    const { containerId, interface: name, node } = addressBound;
    tenure.node = node;
    tenure.uses = tenure.uses.filter((each) => each.containerId !== containerId || each.interface !== name);
    tenure.uses.push({ containerId, interface: name, node, from: at, until: '', ended: 'UNBIND_CAUSE_UNSPECIFIED' });
  }
  if (addressUnbound)
    for (const each of tenures.flatMap(({ uses }) => uses))
      if (
        each.containerId === addressUnbound.containerId &&
        each.interface === addressUnbound.interface &&
        each.until === ''
      ) {
        each.until = at;
        each.ended = addressUnbound.cause;
      }
}

function end(tenures: OpenTenure[], { addressReleased, seq, actor, at }: Event): void {
  const tenure = addressReleased && tenures.find(({ given }) => given.seq === addressReleased.alloc);
  if (!tenure) return;
  const { cause, evidence } = addressReleased;
  tenure.until = at;
  tenure.lost = { seq, actor, cause, evidence, toUid: '' };
}

function mark(marks: Open<Mark>[], event: Event): void {
  const { addressReserved, reservationCancelled, addressQuarantined, quarantineLifted, at } = event;
  const close = (kind: 'reserved' | 'quarantined'): void => {
    const last = marks.findLast((each) => each[kind] !== undefined && each.until === '');
    if (last) last.until = at;
  };
  if (reservationCancelled ?? addressReserved) close('reserved');
  if (quarantineLifted ?? addressQuarantined) close('quarantined');
  if (addressReserved) marks.push({ from: at, until: '', reserved: addressReserved });
  if (addressQuarantined) marks.push({ from: at, until: '', quarantined: addressQuarantined });
}

/** Whether a time holds an instant, as RFC 3339 text in UTC: from its beginning on, and not at its end. */
export const holds = ({ from, until }: { readonly from: string; readonly until: string }, at: string): boolean =>
  from <= at && (until === '' || at < until);

/** What an address was at an instant. */
export interface Then {
  /** Who had it. */
  readonly holder: Tenure | undefined;
  /** Who had it last before, and next after. */
  readonly before: Tenure | undefined;
  readonly after: Tenure | undefined;
  /** Containers that may have answered on it, though nobody had it. */
  readonly answering: readonly Use[];
  /** Why it was kept back then. */
  readonly marks: readonly Mark[];
}

/** What they say of an instant, RFC 3339 in UTC with milliseconds. */
export function at(instant: string, { tenures, marks }: Tenures): Then {
  const holder = tenures.find((tenure) => holds(tenure, instant));
  const uses = tenures.flatMap((tenure) => tenure.uses);
  return {
    holder,
    before: tenures.findLast(({ until }) => until !== '' && until <= instant),
    after: tenures.find(({ from }) => from > instant),
    answering: holder ? [] : uses.filter((each) => holds(each, instant)),
    marks: marks.filter((each) => holds(each, instant)),
  };
}

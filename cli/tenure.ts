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
  /** Which boot of the node. */
  readonly bootId: string;
  readonly from: string;
  /** "" while it lasts. */
  readonly until: string;
  /** Unspecified also where it was never unbound before the address was given to somebody else. */
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
  /** Oldest first. They may outlast it: a container may still run when its Pod has lost the address. */
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
type OpenUse = Open<Use>;
type OpenTenure = Open<Omit<Tenure, 'uses'>> & { readonly uses: OpenUse[] };

/** What is known after some of the events. */
interface Known {
  readonly tenures: OpenTenure[];
  /** The same, by the event that gave the address. */
  readonly byGrant: Map<number, OpenTenure>;
  /** Those that have not ended: containers that, by the ledger, still answer on the address. */
  uses: OpenUse[];
  readonly marks: Open<Mark>[];
}

/** From the events of one address in one subnet, newest first. What began before the oldest of them is left out. */
export function tenuresOf(events: readonly Event[]): Tenures {
  const known: Known = { tenures: [], byGrant: new Map(), uses: [], marks: [] };
  for (const event of events.toReversed()) {
    begin(known, event);
    use(known, event);
    end(known, event);
    mark(known.marks, event);
  }
  return known;
}

function begin(known: Known, event: Event): void {
  const grant = event.addressAllocated ?? event.addressTransferred;
  if (!grant) return;
  const fromUid = event.addressTransferred?.fromUid ?? '';
  const predecessor = known.tenures.at(-1);
  const { seq, actor, at, subnet } = event;
  if (predecessor?.until === '') {
    predecessor.until = at;
    predecessor.lost = { seq, actor, cause: 'RELEASE_CAUSE_UNSPECIFIED', evidence: '', toUid: grant.uid };
  }
  // Containers go on with a transfer, which is to the same Pod by name. Whoever else is given the address begins without any.
  if (!event.addressTransferred) endUses(known, { at, cause: 'UNBIND_CAUSE_UNSPECIFIED' }, () => true);
  const { attachment, uid: podUid, owner, node, mac, cause } = grant;
  const addresses = grant.addresses.map(({ address }) => address);
  const given = { seq, cause, actor, fromUid };
  const what = { subnet, addresses, attachment, podUid, owner, node, mac, given };
  const tenure = { ...what, from: at, until: '', lost: undefined, uses: [...known.uses] };
  known.tenures.push(tenure);
  known.byGrant.set(seq, tenure);
}

function use(known: Known, { addressBound, addressUnbound, at }: Event): void {
  if (addressBound) {
    const { containerId, interface: name, node, bootId } = addressBound;
    const tenure = known.byGrant.get(addressBound.alloc);
    if (!tenure) return;
    // A node that booted again runs none of the containers of the boot before
    endUses(known, { at, cause: 'UNBIND_CAUSE_NODE_REBOOTED' }, (of) => of.node === node && of.bootId !== bootId);
    tenure.node = node;
    if (known.uses.some((of) => of.containerId === containerId && of.interface === name && of.node === node)) return;
    const begun = { containerId, interface: name, node, bootId, from: at, until: '' };
    const use: OpenUse = { ...begun, ended: 'UNBIND_CAUSE_UNSPECIFIED' };
    tenure.uses.push(use);
    known.uses.push(use);
  }
  if (addressUnbound) {
    const { containerId, interface: name, cause } = addressUnbound;
    endUses(known, { at, cause }, (of) => of.containerId === containerId && of.interface === name);
  }
}

function endUses(
  known: Known,
  { at, cause }: { readonly at: string; readonly cause: UnbindCause },
  which: (use: Use) => boolean,
): void {
  for (const use of known.uses.filter(which)) {
    use.until = at;
    use.ended = cause;
  }
  known.uses = known.uses.filter(({ until }) => until === '');
}

function end({ byGrant }: Known, { addressReleased, seq, actor, at }: Event): void {
  const tenure = addressReleased && byGrant.get(addressReleased.alloc);
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
const holds = ({ from, until }: { readonly from: string; readonly until: string }, at: string): boolean =>
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
  // A container that lived on through a transfer is listed with both Pods
  const uses = [...new Set(tenures.flatMap((tenure) => tenure.uses))];
  return {
    holder: holder && { ...holder, node: nodeAt(holder, instant) },
    before: tenures.findLast(({ until }) => until !== '' && until <= instant),
    after: tenures.find(({ from }) => from > instant),
    answering: holder ? [] : uses.filter((each) => holds(each, instant)),
    marks: marks.filter((each) => holds(each, instant)),
  };
}

/** Of a virtual machine that moves, the node that it was on by then; one that was not set up yet ran where it was set up first. */
const nodeAt = ({ uses, node }: Tenure, instant: string): string =>
  (uses.findLast(({ from }) => from <= instant) ?? uses[0])?.node ?? node;

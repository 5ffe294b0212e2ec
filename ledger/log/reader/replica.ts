/**
 * The ledger in the memory of one allocator: the state at a head, and listeners for new events. A
 * standby and the writer use the same class: a standby follows the log, the writer appends to it.
 */
import { storeNewest } from '../../../lib/maps.ts';
import { waitForCallback } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import type { AllocationRefused } from '../../domain/events/event.ts';
import { type EventVersion, eventVersions } from '../../domain/events/schema-version.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import { claimKey, type ClaimName } from '../../domain/state/claim.ts';
import { StateRestore } from '../../domain/state/snapshot.ts';
import type { State } from '../../domain/state/state.ts';
import { addressesOf } from '../../domain/events/registry.ts';
import { type Head, NewerEventError, type StoredEvent } from '../chain/chain.ts';
import { LedgerClock } from '../chain/ledger-clock.ts';
import { applyCommand, type EventObserver, type StateAtHead } from './fold.ts';
import { headText, UnfinishedReplay } from '../store/stored-values.ts';
import type { Ledger, Revision, StoredLine } from '../store/ledger.ts';
import { parseLine } from '../store/stored-line.ts';
import { networksFromLog } from './networks-from-log.ts';
import { ClaimRevisions } from './claim-revisions.ts';

/** The events that stay in memory, so that clients near the head cause no read of etcd. */
const maxRecentEvents = 4_000;
/** Old events are removed in groups, because each removal moves all later events. */
const maxSurplusEvents = 500;
const maxRefusals = 10_000;
const rememberedRefusalMs = 3_600_000;

type Listener = (events: readonly StoredEvent[]) => void;

export class Replica {
  readonly ledger: Ledger;
  readonly state: State;
  readonly clock: LedgerClock;
  /** Called for each event that another replica wrote, before the event is applied. */
  onEventRead: EventObserver | undefined;
  #head: Head;
  #version: EventVersion;
  readonly #revisions: ClaimRevisions;
  /** Fenced addresses (`claimKey`) that have no claim, because their keys were unreadable. */
  readonly #unreadable = new Set<string>();
  readonly #listeners = new Set<Listener>();
  readonly #recent: StoredEvent[] = [];
  /** "uid/reason" of each refusal in the log, with its time, newest last. */
  readonly #refusals = new Map<string, number>();
  /** Events of a command whose last event has not been read. */
  #incomplete: StoredEvent[] = [];

  private constructor(
    ledger: Ledger,
    { state, head, version }: StateAtHead & { readonly version: EventVersion },
    revisions: ClaimRevisions,
    clock: LedgerClock,
  ) {
    this.ledger = ledger;
    this.state = state;
    this.clock = clock;
    this.#head = head;
    this.#version = version;
    this.#revisions = revisions;
    clock.observe(head.at);
  }

  /**
   * Loads the ledger. An address whose key is unreadable is fenced; all other addresses work.
   * @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED for an unreadable head, Subnet, pool or
   * address key name; NewerEventError for keys that a newer program has written.
   */
  static async load(ledger: Ledger, signal: AbortSignal, clock = new LedgerClock(), log?: Logger): Promise<Replica> {
    const snapshot = await ledger.load(signal);
    const version = await readVersion(ledger, snapshot.head.seq, signal);
    const restore = new StateRestore(snapshot.subnets);
    const revisions = new ClaimRevisions();
    const [unreadable, incomplete]: [ClaimName[], ClaimName[]] = [[], []];
    const configured = new Set(snapshot.subnets.map((subnet) => subnet.name));
    for await (const page of snapshot.claims)
      for (const { name, claim, revision } of page) {
        if (!claim) unreadable.push(name);
        else {
          restore.add(name, claim);
          revisions.set(name, revision);
          if (claim.networks.length === 0 && !configured.has(name.subnet)) incomplete.push(name);
        }
      }
    for (const { name, networks } of await networksFromLog(incomplete, snapshot.head, ledger, { signal, log }))
      restore.setNetworks(name, networks);
    const atHead = { state: restore.end(snapshot), head: snapshot.head, version };
    const replica = new Replica(ledger, atHead, revisions, clock);
    for (const name of unreadable.map(claimKey)) {
      replica.state.fenced.add(name);
      replica.#unreadable.add(name);
    }
    return replica;
  }

  /** The head of the committed events in the state. */
  get head(): Head {
    return this.#head;
  }

  /** The schema version of the last event. Later events are not written in an earlier version. */
  get version(): EventVersion {
    return this.#version;
  }

  /** The revision that a claim's key has according to the log; 0n without a key. */
  revisionOf(name: ClaimName): Revision {
    return this.#revisions.get(name);
  }

  /** Whether an address is fenced because its key could not be read at the start. */
  isUnreadable(name: ClaimName): boolean {
    return this.#unreadable.has(claimKey(name));
  }

  /** Ends a fence whose key is correct again. @param revision of the key; 0n without a key */
  serveAgain(name: ClaimName, revision: Revision): void {
    this.state.fenced.delete(claimKey(name));
    if (revision === 0n) this.#revisions.delete(name);
    else this.#revisions.set(name, revision);
  }

  /**
   * Whether the log has a refusal of this Pod uid for this reason. A waiting Pod is refused every
   * few seconds, and the log is permanent. The list is limited, so if more Pods than it holds are
   * refused, the log takes at most that many refusals an hour.
   */
  hasRecordedRefusal(refusal: AllocationRefused): boolean {
    if (this.#refusals.has(refusalKey(refusal))) return true;
    const [oldestAt = 0] = this.#refusals.values();
    return this.#refusals.size >= maxRefusals && oldestAt > this.clock.read().at - rememberedRefusalMs;
  }

  /** Calls the listener with committed events of whole commands. Returns its removal. */
  onCommitted(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The committed events from `from`; undefined if the log must be read for them. */
  recentFrom(from: Seq): readonly StoredEvent[] | undefined {
    const first = this.#recent[0]?.envelope.seq ?? this.#head.seq + 1;
    return from < first ? undefined : this.#recent.slice(from - first);
  }

  /**
   * Reads and applies the events after the head.
   * @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED when the log has a gap, a broken chain or an
   * unreadable event, or was rewound.
   */
  async catchUp(signal: AbortSignal): Promise<void> {
    // The head is read first, so that the log must reach at least as far.
    await this.#readTo(await this.#readHead(signal), signal);
  }

  /** Like `catchUp`, but reads the log only if the head has changed. */
  async refresh(signal: AbortSignal): Promise<void> {
    const found = await this.#readHead(signal);
    if (headText(found) !== headText(this.#head)) await this.#readTo(found, signal);
  }

  /** Resolves once this event is committed, or when the signal is aborted. */
  async untilReached(seq: Seq, signal: AbortSignal): Promise<void> {
    if (this.#head.seq >= seq) return;
    await waitForCallback(signal, (done) => this.onCommitted(() => this.#head.seq >= seq && done()));
  }

  /** Rejects the head of a replay: its claims have other revisions than their events. */
  async #readHead(signal: AbortSignal): Promise<Head> {
    try {
      return await this.ledger.head(signal);
    } catch (error) {
      if (!(error instanceof UnfinishedReplay)) throw error;
      throw new IpledgerError(
        'LEDGER_DAMAGED',
        `this replica was loaded before a replay into the same etcd. It ends, to load the ledger again at its next start. ${error.message}`,
      );
    }
  }

  async #readTo(found: Head, signal: AbortSignal): Promise<void> {
    if (found.seq < this.#head.seq || (found.seq === this.#head.seq && headText(found) !== headText(this.#head)))
      throw new IpledgerError(
        'LEDGER_DAMAGED',
        `the ledger was rewound: this replica has read ${formatHead(this.#head)}, and etcd's head is ${formatHead(found)}. etcd was restored from a backup, or another program wrote a key. Run: ipledger recover`,
      );
    // Events of an incomplete command are read again, together with its other events.
    this.#incomplete = [];
    for await (const lines of this.ledger.read(this.#head.seq + 1, signal))
      for (const line of lines) this.#applyLine(line);
    if (this.#head.seq < found.seq)
      throw new IpledgerError(
        'LEDGER_DAMAGED',
        `the log has no complete command after event ${this.#head.seq}, but etcd's head is ${headText(found)}. Another program deleted or wrote a key. Run: ipledger verify --etcd URLS`,
      );
  }

  /** Records events as committed. The writer has already applied them to the state. */
  commit(events: readonly StoredEvent[], head: Head, revision: Revision): void {
    this.#head = head;
    this.clock.observe(head.at);
    this.#version = events.at(-1)?.envelope.v ?? this.#version;
    for (const { sequenced } of events) {
      for (const address of addressesOf(sequenced)) {
        const name = { subnet: sequenced.subnet, address };
        if (sequenced.type === 'ClaimsDropped') this.#revisions.delete(name);
        else this.#revisions.set(name, revision);
        // The writer has written the key, so the address is served again.
        if (this.state.fenced.size > 0) this.state.fenced.delete(claimKey(name));
      }
      if (sequenced.type === 'AllocationRefused') this.#recordRefusal(sequenced);
    }
    this.#recent.push(...events);
    const surplus = this.#recent.length - maxRecentEvents;
    if (surplus > maxSurplusEvents) this.#recent.splice(0, surplus);
    for (const listener of this.#listeners) listener(events);
  }

  #applyLine(line: StoredLine): void {
    // Rejects a line of the archive: it has no revision, but a writer needs the claims' revisions.
    if (line.revision === 0n)
      throw new IpledgerError(
        'POSITION_GONE',
        `this replica fell behind, to event ${this.#head.seq}, and the next events are sealed. It ends, to load the ledger again at its next start`,
      );
    const event = parseLine(line);
    this.#incomplete.push(event);
    const [part, parts] = event.envelope.part;
    if (part < parts) return;
    const events = this.#incomplete.splice(0);
    this.#refuseUnreadable(events);
    const head = applyCommand({ state: this.state, head: this.#head }, events, this.onEventRead);
    this.commit(events, head, line.revision);
  }

  /** @throws IpledgerError LEDGER_DAMAGED for an event of an address whose key was unreadable */
  #refuseUnreadable(events: readonly StoredEvent[]): void {
    if (this.#unreadable.size === 0) return;
    for (const { sequenced } of events)
      for (const address of addressesOf(sequenced)) {
        const name = { subnet: sequenced.subnet, address };
        if (this.isUnreadable(name)) throw readableAgain(name);
      }
  }

  #recordRefusal(refusal: AllocationRefused): void {
    storeNewest(this.#refusals, refusalKey(refusal), this.#head.at, maxRefusals);
  }
}

/**
 * The schema version of the last event. A start reads the keys beside the log, which an earlier
 * program would read without what a newer one has written there.
 * @throws NewerEventError
 */
async function readVersion(ledger: Ledger, seq: Seq, signal: AbortSignal): Promise<EventVersion> {
  const [oldest] = eventVersions as [EventVersion];
  if (seq === 0) return oldest;
  try {
    for await (const [line] of ledger.read(seq, signal)) if (line) return parseLine(line).envelope.v;
  } catch (error) {
    // Any other damage of the log must not prevent the start
    const reason = IpledgerError.from(error);
    if (error instanceof NewerEventError || reason.kind === 'transient') throw error;
  }
  return oldest;
}

export const refusalKey = ({ data: { uid, reason } }: AllocationRefused): string => `${uid}/${reason}`;

/** Formats a head for messages. */
const formatHead = ({ epoch, seq, hash }: Head): string => `event ${seq} of epoch ${epoch} (${hash.slice(0, 12)})`;

export const readableAgain = ({ subnet, address }: ClaimName): IpledgerError =>
  new IpledgerError(
    'LEDGER_DAMAGED',
    `the key of ${address} of subnet ${subnet} could not be read when this allocator started, and can be read now: it ends, to load the ledger again at its next start`,
  );

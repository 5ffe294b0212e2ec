/**
 * What one allocator knows of the ledger: the state at a head, and who wants to hear of what comes next. Standby and writer
 * are the same replica: a standby follows the log, a writer adds to it.
 */
import { untilCalled } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { AllocationRefused, Seq } from '../domain/event.ts';
import { claimKey, type ClaimName } from '../domain/journal.ts';
import { restore } from '../domain/restore.ts';
import type { State } from '../domain/state.ts';
import { addressesOf } from '../domain/event.ts';
import { type Head, parseEvent, type StoredEvent } from './chain.ts';
import { LedgerClock } from './clock.ts';
import { applyCommand, type Look } from './fold.ts';
import { headText } from './keys.ts';
import type { Ledger, Revision, StoredLine } from './ledger.ts';
import { withNetworks } from './older-claims.ts';

/** How many of the last events are kept at hand, so that those who follow closely cost no read of etcd. */
const recentEvents = 10_000;
const mostRefusals = 10_000;
const refusalsAgainMs = 3_600_000;

type Listener = (events: readonly StoredEvent[]) => void;

export class Replica {
  readonly ledger: Ledger;
  readonly state: State;
  readonly clock: LedgerClock;
  /** Told of each event that was read and not written here, before it is applied. */
  onRead: Look | undefined;
  #head: Head;
  readonly #revisions = new Map<string, Revision>();
  readonly #listeners = new Set<Listener>();
  readonly #recent: StoredEvent[] = [];
  /** "uid/reason" of what the log refused, with the time of it; the latest last. */
  readonly #refusals = new Map<string, number>();
  /** Events of a command whose last part has not been read yet. */
  #incomplete: StoredEvent[] = [];

  private constructor(ledger: Ledger, state: State, head: Head, clock: LedgerClock) {
    this.ledger = ledger;
    this.state = state;
    this.clock = clock;
    this.#head = head;
    clock.observe(head.at);
  }

  /**
   * The replica at the ledger's present snapshot. An address whose key cannot be read is fenced, and everything else goes on.
   * @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED for a head, a subnet or an address key's name that is none.
   */
  static async load(ledger: Ledger, signal: AbortSignal, clock = new LedgerClock(), log?: Logger): Promise<Replica> {
    const snapshot = await withNetworks(await ledger.load(signal), ledger, { signal, log });
    const replica = new Replica(ledger, restore(snapshot), snapshot.head, clock);
    for (const { revision, ...name } of snapshot.revisions) replica.#revisions.set(claimKey(name), revision);
    for (const name of snapshot.unreadable) replica.state.fenced.add(claimKey(name));
    return replica;
  }

  /** The last event that is in the state for good. */
  get head(): Head {
    return this.#head;
  }

  /** When the key of a claim was last written, as far as the log tells; 0n where there is none. */
  revisionOf(name: ClaimName): Revision {
    return this.#revisions.get(claimKey(name)) ?? 0n;
  }

  /**
   * Whether the log need not be told (again) that this Pod uid was refused for this reason. With more refused Pods than are
   * remembered, at most so many are told an hour: the log is for ever, and a Pod that waits asks again every few seconds.
   */
  knowsRefusal(refusal: AllocationRefused): boolean {
    if (this.#refusals.has(refusalKey(refusal))) return true;
    const [oldestAt = 0] = this.#refusals.values();
    return this.#refusals.size >= mostRefusals && oldestAt > this.clock.read().at - refusalsAgainMs;
  }

  /** Calls the listener with the events of one or more whole commands, once they are committed. Returns how to stop. */
  onCommitted(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The committed events from `from` on, when all of them are at hand; undefined when the log has to be read. */
  recentFrom(from: Seq): readonly StoredEvent[] | undefined {
    const first = this.#recent[0]?.envelope.seq ?? this.#head.seq + 1;
    return from < first ? undefined : this.#recent.slice(from - first);
  }

  /**
   * Reads and applies what the log has beyond the head.
   * @throws IpledgerError UNAVAILABLE; LEDGER_DAMAGED when the log is not dense, not chained or not readable, or was rewound.
   */
  async catchUp(signal: AbortSignal): Promise<void> {
    // The head first: the log, read after it, has to reach at least as far.
    await this.#readTo(await this.ledger.head(signal), signal);
  }

  /** As `catchUp`, but the log is read only if the head has changed: a stray event behind an unchanged head goes unnoticed. */
  async refresh(signal: AbortSignal): Promise<void> {
    const there = await this.ledger.head(signal);
    if (headText(there) !== headText(this.#head)) await this.#readTo(there, signal);
  }

  /** Resolves once this event is in the state for good, or with the signal. */
  async reached(seq: Seq, signal: AbortSignal): Promise<void> {
    if (this.#head.seq >= seq) return;
    await untilCalled(signal, (done) => this.onCommitted(() => this.#head.seq >= seq && done()));
  }

  async #readTo(there: Head, signal: AbortSignal): Promise<void> {
    if (there.seq < this.#head.seq || (there.seq === this.#head.seq && headText(there) !== headText(this.#head)))
      throw new IpledgerError(
        'LEDGER_DAMAGED',
        `the ledger was rewound: this replica knows it up to ${placeText(this.#head)}, and etcd's head is ${placeText(there)}. Was etcd restored from a backup, or a key written by hand?`,
      );
    // What was read of an unfinished command is read again, with the rest of it.
    this.#incomplete = [];
    for await (const lines of this.ledger.read(this.#head.seq + 1, signal))
      for (const line of lines) this.#follow(line);
    if (this.#head.seq < there.seq)
      throw new IpledgerError(
        'LEDGER_DAMAGED',
        `the log has no whole command after event ${this.#head.seq}, though etcd's head is ${headText(there)}: was a key deleted by hand?`,
      );
  }

  /** The state has these events already (the writer evolved it): they are committed now. */
  commit(events: readonly StoredEvent[], head: Head, revision: Revision): void {
    this.#head = head;
    this.clock.observe(head.at);
    for (const { sequenced } of events) {
      for (const address of addressesOf(sequenced)) {
        const key = claimKey({ subnet: sequenced.subnet, address });
        if (sequenced.type === 'ClaimsDropped') this.#revisions.delete(key);
        else this.#revisions.set(key, revision);
      }
      if (sequenced.type === 'AllocationRefused') this.#rememberRefusal(sequenced);
    }
    this.#recent.push(...events);
    if (this.#recent.length > 2 * recentEvents) this.#recent.splice(0, this.#recent.length - recentEvents);
    for (const listener of this.#listeners) listener(events);
  }

  #follow(line: StoredLine): void {
    // From the archive: the revisions of its claims are not known any more, and a writer has to know them.
    if (line.revision === 0n)
      throw new IpledgerError(
        'POSITION_GONE',
        `this replica fell behind, to event ${this.#head.seq}, and what follows is sealed: it has to start anew`,
      );
    const event = parseEvent(line.text);
    this.#incomplete.push(event);
    const [part, parts] = event.envelope.part;
    if (part < parts) return;
    const events = this.#incomplete.splice(0);
    const head = applyCommand({ state: this.state, head: this.#head }, events, this.onRead);
    this.commit(events, head, line.revision);
  }

  #rememberRefusal(refusal: AllocationRefused): void {
    const [oldest] = this.#refusals.keys();
    if (oldest !== undefined && this.#refusals.size >= mostRefusals) this.#refusals.delete(oldest);
    this.#refusals.set(refusalKey(refusal), this.#head.at);
  }
}

/** What makes two refusals one. */
export const refusalKey = ({ data: { uid, reason } }: AllocationRefused): string => `${uid}/${reason}`;

/** Where a head stands, for a person. */
const placeText = ({ epoch, seq, hash }: Head): string => `event ${seq} of epoch ${epoch} (${hash.slice(0, 12)})`;

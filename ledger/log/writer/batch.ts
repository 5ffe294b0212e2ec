/**
 * Builds a batch. Each command is decided against the state after the earlier commands of the
 * batch. A command that does not fit into the transaction waits for the next batch; a command is
 * never split. A batch can be built while the append of the previous batch is in flight. If the
 * previous batch fails, both are rolled back, the later one first. Review notes:
 * docs/invariants.md, "All or none".
 */
import type { Claim } from '../../domain/state/claim.ts';
import { type Event } from '../../domain/events/event.ts';
import type { OtherKey } from '../../domain/events/event-definition.ts';
import { addressesOf, otherKeyOf, evolve } from '../../domain/events/registry.ts';
import { UndoLog, type Undo } from '../../domain/state/undo-log.ts';
import { Refused } from '../../domain/commands/refusal.ts';
import { claimOf } from '../../domain/state/state.ts';
import { chainEvent, type Head, maxHeadBytes, type StoredEvent } from '../chain/chain.ts';
import type { ClockReading } from '../chain/ledger-clock.ts';
import {
  configurationEntries,
  endedEntries,
  type ConfiguredNames,
  emptyNames,
  addNameOf,
  otherKeyBytes,
  movedHistoryStart,
  sealedSegments,
} from '../store/configuration-keys.ts';
import { maxEndedBytes } from '../store/ended-keys.ts';
import { addressPrefix, logKey } from '../store/keys.ts';
import { claimText } from '../store/stored-values.ts';
import type { Batch, Revision } from '../store/ledger.ts';
import type { Replica } from '../reader/replica.ts';
import { firstVersionOfEvent } from '../chain/upcast.ts';
import { type EventVersion } from '../../domain/events/schema-version.ts';

/** The limit of an event, which also limits the pages of readers. */
const maxEventBytes = 16 << 10;

/** The values in the envelopes of a command's events that do not come from the command. */
export interface CommandStamp {
  /** The ULID of the command. `newId` returns the ULIDs of its events. */
  readonly command: string;
  readonly newId: () => string;
  readonly reading: ClockReading;
  readonly actor: string;
  /** The schema version to write. Default: the newest. */
  readonly version?: EventVersion;
  /** Whether the events may be appended while the ledger is frozen. */
  readonly isAllowedWhileFrozen?: boolean;
}

export class BatchBuilder {
  readonly #replica: Replica;
  readonly #undoLog = new UndoLog();
  /** The events of the batch in flight before this batch. */
  readonly #eventsInFlight: readonly StoredEvent[];
  readonly #events: StoredEvent[] = [];
  readonly #texts = new Map<Claim, string>();
  /** The keys that the events change besides log and claims. Most batches have none. */
  readonly #changedKeys: OtherKey[] = [];
  /** The number of ended Pods before the batch. */
  readonly #endedBefore: number;
  #head: Head;
  #bytes = 0;
  #requiresUnfrozen = false;

  /** @param inFlight the previous batch, whose events are in the state but not committed */
  constructor(replica: Replica, inFlight?: BatchBuilder) {
    this.#replica = replica;
    this.#head = inFlight?.head ?? replica.head;
    this.#eventsInFlight = inFlight?.events ?? [];
    this.#endedBefore = replica.state.ended.end;
  }

  /** The head after all events of the batch, which are not committed yet. */
  get head(): Head {
    return this.#head;
  }

  get events(): readonly StoredEvent[] {
    return this.#events;
  }

  /** Whether an event of this batch, or of the batch in flight, matches. */
  hasUncommitted(matches: (event: StoredEvent) => boolean): boolean {
    return this.#events.some(matches) || this.#eventsInFlight.some(matches);
  }

  /**
   * Applies the events of one command to the state.
   * @returns a function that undoes it, valid until the next call; undefined if the events do not
   * fit into the batch. Then the state is unchanged.
   * @throws Refused for an event that is too large; errors of evolve. Then the state is unchanged.
   */
  add(events: readonly Event[], stamp: CommandStamp): Undo | undefined {
    if (events.length > 0 && !stamp.isAllowedWhileFrozen) this.#requiresUnfrozen = true;
    const savepoint = this.#undoLog.savepoint();
    const before = {
      head: this.#head,
      count: this.#events.length,
      changedKeys: this.#changedKeys.length,
      bytes: this.#bytes,
    };
    const undo = (): void => {
      this.#undoLog.rollBack(savepoint);
      this.#events.length = before.count;
      this.#changedKeys.length = before.changedKeys;
      this.#head = before.head;
      this.#bytes = before.bytes;
    };
    try {
      events.forEach((event, index) => this.#append(event, [index + 1, events.length], stamp));
    } catch (error) {
      undo();
      throw error;
    }
    if (this.#fits()) return undo;
    undo();
    return undefined;
  }

  /** Undoes all commands. */
  rollBack(): void {
    this.#undoLog.rollBack();
  }

  /** Builds the transaction. The previous batch must be committed: it sets claim revisions. */
  build(writer: Revision | undefined): Batch {
    const { state } = this.#replica;
    const claims = this.#undoLog.touched.map((name) => {
      const claim = claimOf(state, name.subnet, name.address);
      return { name, text: claim && this.#textOf(claim), knownRevision: this.#replica.revisionOf(name) };
    });
    const configured = configurationEntries(state, this.#configuredNames());
    const events = this.#events.map(({ envelope: { seq }, text }) => ({ seq, text }));
    const head = { before: this.#replica.head, after: this.#head };
    return {
      head,
      events,
      claims,
      ...configured,
      ended: endedEntries(state, this.#endedBefore),
      segments: sealedSegments(this.#changedKeys),
      historyStart: movedHistoryStart(state, this.#changedKeys),
      requiresUnfrozen: this.#requiresUnfrozen,
      writer,
    };
  }

  #append(event: Event, part: readonly [number, number], stamp: CommandStamp): void {
    const { command, newId, reading, actor, version } = stamp;
    const { state } = this.#replica;
    refuseUnreadable(event, version);
    const addresses = addressesOf(event);
    const before: Record<string, number> = {};
    for (const address of addresses) before[address] = claimOf(state, event.subnet, address)?.last ?? 0;
    const { at, clock } = reading;
    const wrapping = { id: newId(), command, part, at, clock, actor, before, ...(version && { version }) };
    const { stored, head } = chainEvent(this.#head, event, wrapping);
    const eventBytes = Buffer.byteLength(stored.text);
    if (eventBytes > maxEventBytes)
      throw new Refused(
        'INVALID_REQUEST',
        `the event ${event.type} would have ${eventBytes} bytes, and at most ${maxEventBytes} are allowed: request less, or write excluded addresses as ranges`,
      );
    evolve(state, stored.sequenced, this.#undoLog);
    this.#events.push(stored);
    this.#head = head;
    this.#bytes += eventBytes + logKeyBytes;
    // The keys besides the log repeat the event's data, so they are about as large.
    for (const address of addresses) {
      const claim = claimOf(state, event.subnet, address);
      const keyBytes = addressPrefix.length + event.subnet.length + 1 + address.length;
      this.#bytes += (claim ? Buffer.byteLength(this.#textOf(claim)) : 0) + 2 * keyBytes;
    }
    const otherKey = otherKeyOf(stored.sequenced);
    if (otherKey === undefined) return;
    this.#changedKeys.push(otherKey);
    this.#bytes += otherKeyBytes(state, otherKey);
  }

  /** Serialises each claim once, for its size and for the transaction: claims are immutable. */
  #textOf(claim: Claim): string {
    let text = this.#texts.get(claim);
    if (text === undefined) this.#texts.set(claim, (text = claimText(claim)));
    return text;
  }

  /** The names of the Subnets and pools that the batch changes. */
  #configuredNames(): ConfiguredNames {
    const names = emptyNames();
    for (const key of this.#changedKeys) addNameOf(names, key);
    return names;
  }

  #fits(): boolean {
    const { ops, bytes } = this.#replica.ledger.limits;
    const claims = this.#undoLog.touchedCount;
    const { puts: otherPuts, segments } = this.#otherKeys();
    const ended = this.#replica.state.ended.changedSince(this.#endedBefore).length;
    const puts = this.#events.length + claims + ended + otherPuts + 1;
    const compares = claims + segments + 4;
    const size = this.#bytes + ended * maxEndedBytes + 2 * maxHeadBytes;
    return puts <= ops && compares <= ops && size <= bytes;
  }

  /** The number of keys besides head, log and claims, and the number of segments among them. */
  #otherKeys(): { readonly puts: number; readonly segments: number } {
    if (this.#changedKeys.length === 0) return noOtherKeys;
    const { subnets, pools, dropped } = this.#configuredNames();
    const segments = sealedSegments(this.#changedKeys).length;
    const logStart = segments > 0 ? 1 : 0;
    const historyStart = movedHistoryStart(this.#replica.state, this.#changedKeys) ? 2 : 0;
    return { puts: subnets.size + pools.size + dropped.size + segments + logStart + historyStart, segments };
  }
}

const noOtherKeys = { puts: 0, segments: 0 };
/** All keys of the log have the same length. */
const logKeyBytes = logKey(0).length;

/** @throws Refused UNAVAILABLE for an event that a live replica cannot read */
function refuseUnreadable(event: Event, version: EventVersion | undefined): void {
  const needed = firstVersionOfEvent(event);
  if (version !== undefined && version < needed)
    throw new Refused(
      'UNAVAILABLE',
      `${event.type} needs event version ${needed}, but an allocator replica reads only versions up to ${version}: upgrade that replica, then retry`,
    );
}

/**
 * A batch in the making: commands are decided, in order, against the state plus what the batch did to it so far. What does
 * not fit one transaction is left for the next; a command is never cut.
 */
import type { Claim } from '../domain/claim.ts';
import { addressesOf, type Event } from '../domain/event.ts';
import { evolve } from '../domain/evolve.ts';
import { Journal, type Undo } from '../domain/journal.ts';
import { Refused } from '../domain/refusal.ts';
import { claimOf } from '../domain/state.ts';
import { chain, type Head, headBytes, type StoredEvent } from './chain.ts';
import type { Reading } from './clock.ts';
import { configurationOf, type Names, noNames, note, segmentsOf } from './configured.ts';
import {
  addressKey,
  claimText,
  droppedKey,
  droppedText,
  logKey,
  poolKey,
  poolText,
  segmentKey,
  segmentText,
  subnetKey,
  subnetText,
} from './keys.ts';
import type { Batch, Revision } from './ledger.ts';
import type { Replica } from './replica.ts';
import { type EventVersion, firstVersionFor } from './upcast.ts';

/** So that readers can bound their pages. */
const mostEventBytes = 16 << 10;

/** How a command's events are marked. */
export interface CommandStamp {
  /** ULIDs: of the command, and of each event that is made. */
  readonly command: string;
  readonly newId: () => string;
  readonly reading: Reading;
  readonly actor: string;
  /** The schema version that is written; the newest unless some replica cannot read it. */
  readonly version?: EventVersion;
  /** Whether it may happen while the ledger is frozen, too. */
  readonly evenFrozen?: boolean;
}

export class BatchBuilder {
  readonly #replica: Replica;
  readonly #journal = new Journal();
  readonly #events: StoredEvent[] = [];
  readonly #texts = new WeakMap<Claim, string>();
  #head: Head;
  #bytes = 0;
  #notWhileFrozen = false;

  constructor(replica: Replica) {
    this.#replica = replica;
    this.#head = replica.head;
  }

  /** The head behind all events so far: true only once the batch is committed. */
  get head(): Head {
    return this.#head;
  }

  get events(): readonly StoredEvent[] {
    return this.#events;
  }

  /**
   * Evolves the state by one command's events.
   * @returns how to take them back, right until more is added; undefined, and the state as before, when they do not fit with
   *   what is there.
   * @throws Refused for an event that is too large; whatever evolve throws. The state is then as before.
   */
  add(events: readonly Event[], stamp: CommandStamp): Undo | undefined {
    if (events.length > 0 && !stamp.evenFrozen) this.#notWhileFrozen = true;
    const savepoint = this.#journal.savepoint();
    const before = { head: this.#head, count: this.#events.length, bytes: this.#bytes };
    const undo = (): void => {
      this.#journal.rollBack(savepoint);
      this.#events.length = before.count;
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

  /** Takes everything back. */
  rollBack(): void {
    this.#journal.rollBack();
  }

  /** The transaction. */
  build(writer: Revision | undefined): Batch {
    const { state } = this.#replica;
    const claims = this.#journal.touched.map((name) => {
      const claim = claimOf(state, name.subnet, name.address);
      return { name, text: claim && this.#textOf(claim), known: this.#replica.revisionOf(name) };
    });
    const configured = configurationOf(state, this.#configured());
    const events = this.#events.map(({ envelope: { seq }, text }) => ({ seq, text }));
    const head = { before: this.#replica.head, after: this.#head };
    const notWhileFrozen = this.#notWhileFrozen;
    return { head, events, claims, ...configured, segments: segmentsOf(this.#events), notWhileFrozen, writer };
  }

  #append(event: Event, part: readonly [number, number], stamp: CommandStamp): void {
    const { command, newId, reading, evenFrozen: _, ...rest } = stamp;
    const { state } = this.#replica;
    refuseUnreadable(event, rest.version);
    const before: Record<string, number> = {};
    for (const address of addressesOf(event)) before[address] = claimOf(state, event.subnet, address)?.last ?? 0;
    const wrapping = { id: newId(), command, part, at: reading.at, clock: reading.clock, before, ...rest };
    const { stored, head } = chain(this.#head, event, wrapping);
    const eventBytes = Buffer.byteLength(stored.text);
    if (eventBytes > mostEventBytes)
      throw new Refused(
        'INVALID_REQUEST',
        `${event.type} would be an event of ${eventBytes} bytes, at most ${mostEventBytes} are allowed: ask for less, or write excludes as ranges`,
      );
    evolve(state, stored.sequenced, this.#journal);
    this.#events.push(stored);
    this.#head = head;
    this.#bytes += eventBytes + logKey(stored.envelope.seq).length;
    // What is written beside it repeats its data, and so is about as large.
    for (const address of Object.keys(before)) {
      const claim = claimOf(state, event.subnet, address);
      const key = addressKey({ subnet: event.subnet, address });
      this.#bytes += (claim ? Buffer.byteLength(this.#textOf(claim)) : 0) + 2 * key.length;
    }
    if (event.type === 'ClaimsDropped')
      this.#bytes +=
        Buffer.byteLength(droppedText(state.dropped.get(event.subnet) ?? [])) + droppedKey(event.subnet).length;
    if (event.type === 'SubnetConfigured')
      this.#bytes += Buffer.byteLength(subnetText(event.data)) + subnetKey(event.subnet).length;
    if (event.type === 'PoolConfigured')
      this.#bytes += Buffer.byteLength(poolText(event.data)) + poolKey(event.data.pool).length;
    if (event.type === 'SegmentSealed') {
      const segment = { seq: stored.envelope.seq, ...event.data };
      this.#bytes += Buffer.byteLength(segmentText(segment)) + 2 * segmentKey(segment.from).length;
    }
  }

  /** Claims are immutable: each is written out once, for its size and for the transaction. */
  #textOf(claim: Claim): string {
    const text = this.#texts.get(claim) ?? claimText(claim);
    this.#texts.set(claim, text);
    return text;
  }

  /** The names of what the batch configures or retires. */
  #configured(): Names {
    const names = noNames();
    for (const { sequenced } of this.#events) note(names, sequenced);
    return names;
  }

  #fits(): boolean {
    const { ops, bytes } = this.#replica.ledger.limits;
    const claims = this.#journal.touchedCount;
    const configured = this.#configured();
    const segments = segmentsOf(this.#events).length;
    const floor = segments > 0 ? 1 : 0;
    const { subnets, pools, dropped } = configured;
    const others = claims + subnets.size + pools.size + dropped.size + segments + floor;
    const puts = this.#events.length + others + 1;
    const compares = claims + segments + 4;
    return puts <= ops && compares <= ops && this.#bytes + 2 * headBytes <= bytes;
  }
}

/** @throws Refused UNAVAILABLE for an event that some replica would stop at. */
function refuseUnreadable(event: Event, version: EventVersion | undefined): void {
  const needed = firstVersionFor(event);
  if (version !== undefined && version < needed)
    throw new Refused(
      'UNAVAILABLE',
      `${event.type} can't be written yet: some allocator replica reads events up to version ${version}, and this takes ${needed}: upgrade it, then ask again`,
    );
}

/**
 * The port between the domain and where the ledger is kept: the smallest one that etcd and a map in memory can both honour.
 * Both adapters pass the same suite, ledger.contract.ts.
 */
import type { Segment, Seq } from '../domain/event.ts';
import type { ClaimName } from '../domain/journal.ts';
import type { Snapshot } from '../domain/restore.ts';
import type { Head } from './chain.ts';
import type { Frozen } from './keys.ts';

/** The revision at which a key was last written; 0n for a key that never was. */
export type Revision = bigint;

/** A batch's sizes may not exceed these. */
export interface AppendLimits {
  /** Keys written, and keys compared. */
  readonly ops: number;
  /** Bytes of all keys and values together. */
  readonly bytes: number;
}

/** What is put in force under a name, or (undefined) retired. */
export interface Configuration {
  readonly name: string;
  readonly text: string | undefined;
}

/** One transaction: all of it happens, or nothing. */
export interface Batch {
  /** The head as it must be found, and as it is left. */
  readonly head: { readonly before: Head; readonly after: Head };
  /** Their keys must not exist. */
  readonly events: readonly { readonly seq: Seq; readonly text: string }[];
  /** Each key must be at the revision that is known of it. undefined: its claim is dropped. */
  readonly claims: readonly { readonly name: ClaimName; readonly text: string | undefined; readonly known: Revision }[];
  /** By subnet, which events dropped claims of it last. */
  readonly dropped: readonly Configuration[];
  readonly subnets: readonly Configuration[];
  readonly pools: readonly Configuration[];
  /** What the events seal: their keys must not exist. The floor rises with them. */
  readonly segments: readonly Segment[];
  /** Whether it may happen only while the ledger is not frozen. */
  readonly notWhileFrozen: boolean;
  /** The create revision of our own writer key: a deposed writer stops duelling. undefined: not compared. */
  readonly writer: Revision | undefined;
}

export type Appended =
  | { readonly kind: 'appended'; readonly revision: Revision }
  /** The head is another, or the log goes on behind it: read the log's tail and decide again. */
  | { readonly kind: 'moved' }
  /** The head is as known, but somebody else is the writer. */
  | { readonly kind: 'deposed' }
  /** The head is as known, but the ledger is frozen. */
  | { readonly kind: 'frozen' }
  /** The head is as known, but these claims' keys are not: somebody edited them. */
  | { readonly kind: 'fenced'; readonly claims: readonly ClaimName[] }
  /** It was turned down before anything was executed: it can never succeed as it is. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** It may happen yet, or have happened: only the log can tell. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Everything beside the log, at one revision. */
export interface LoadedSnapshot extends Snapshot {
  readonly head: Head;
  readonly revisions: readonly (ClaimName & { readonly revision: Revision })[];
  /** Address keys whose value is no claim: somebody edited them. */
  readonly unreadable: readonly ClaimName[];
}

/** A line of the log. */
export interface StoredLine {
  readonly text: string;
  /** Of the transaction that wrote it, and so of the claims that it touched; 0n where it is not known any more, in the archive. */
  readonly revision: Revision;
}

/** A key as it stands. */
export interface StoredKey {
  readonly key: string;
  readonly text: string;
}

/** Keys from `from` (included) to `end` (not included). */
export interface KeyRange {
  readonly from: string;
  readonly end: string;
}

export interface KeyPage {
  /** Of the whole store, when it was read. */
  readonly revision: Revision;
  readonly keys: readonly StoredKey[];
}

/** The keys as they stand, for verification, which trusts no reading of them but its own. */
export interface KeyReader {
  /**
   * The keys of a range with their values, in the order of the keys, in pages, of which there is at least one. All are of one
   * revision: that asked for, or that of the first page (linearizable).
   * @throws IpledgerError UNAVAILABLE, also when etcd has compacted that revision meanwhile; AbortError.
   */
  keys(range: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage>;
}

/** Every method throws an IpledgerError (UNAVAILABLE, LEDGER_DAMAGED) or, when the signal is aborted, an AbortError. */
export interface Ledger extends KeyReader {
  readonly limits: AppendLimits;
  /** Head, claims and specs at one revision. */
  load(signal: AbortSignal): Promise<LoadedSnapshot>;
  /** Never throws: whatever goes wrong is an outcome. */
  append(batch: Batch): Promise<Appended>;
  /**
   * The events from `from` up to the present end (linearizable), in pages. Not checked for gaps.
   * @throws IpledgerError POSITION_GONE when they begin below the floor and are not at hand.
   */
  read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]>;
  /**
   * These events, in the order asked for; undefined for one that is not there. Linearizable.
   * @throws IpledgerError POSITION_GONE for one below the floor that is not at hand.
   */
  readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]>;
  /** The present head; linearizable. */
  head(signal: AbortSignal): Promise<Head>;
  /** Rings when the head may have changed: at least once after each change, at most every so often without. Ends with the signal. */
  bell(signal: AbortSignal): AsyncIterable<void>;
}

/** Reads single events. */
export type EventReader = Pick<Ledger, 'readEach'>;

/** What sealing needs, and reading on across the seam between archive and etcd. Throws as Ledger does. */
export interface SealedLog {
  /** The first event that is not sealed: from here on all events are live. Linearizable, and never less than before. */
  floor(signal: AbortSignal): Promise<Seq>;
  /** What is sealed, from the one that begins at `from` on, oldest first. Linearizable. */
  segments(from: Seq, signal: AbortSignal): Promise<readonly Segment[]>;
  /** Deletes some of the live events below the floor, oldest first. Gives whether there are more. */
  prune(signal: AbortSignal): Promise<boolean>;
}

/** The brake: a key that every replica sees, and that outlives them. Throws as Ledger does. */
export interface Brake {
  /** Why the ledger is frozen; undefined when it is not. Linearizable. */
  frozen(signal: AbortSignal): Promise<Frozen | undefined>;
  /**
   * Freezes it, unless it is of another epoch by now than it was `found` in: somebody has let it go on since, who knew. Where it
   * is frozen already, the first reason stays.
   */
  freeze(why: Frozen, found: Head, signal: AbortSignal): Promise<void>;
  thaw(signal: AbortSignal): Promise<void>;
}

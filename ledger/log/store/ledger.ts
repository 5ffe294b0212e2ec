/**
 * The interface between the ledger and its store: small enough for etcd and for a map in memory.
 * Both implementations pass the same suite, ledger.contract.ts.
 */
import type { Segment, Seq } from '../../domain/values/ledger.ts';
import type { Claim, ClaimName } from '../../domain/state/claim.ts';
import type { Configuration } from '../../domain/state/snapshot.ts';
import type { Head } from '../chain/chain.ts';
import type { FreezeReason } from './stored-values.ts';

/** The revision of the last write to a key; 0n for a key that does not exist. */
export type Revision = bigint;

/** The limits of one transaction. */
export interface AppendLimits {
  /** The most keys that are written, and the most that are compared. */
  readonly ops: number;
  /** The most bytes of all keys and values together. */
  readonly bytes: number;
}

/** The text of a Subnet or pool that takes effect; undefined for a retired one. */
export interface ConfigurationEntry {
  readonly name: string;
  readonly text: string | undefined;
}

/** One transaction: all of it happens, or nothing. */
export interface Batch {
  /** The head must be `before`. It becomes `after`. */
  readonly head: { readonly before: Head; readonly after: Head };
  /** The events to append. Their keys must not exist. */
  readonly events: readonly { readonly seq: Seq; readonly text: string }[];
  /** Each key must be at its known revision. A claim without text is dropped. */
  readonly claims: readonly {
    readonly name: ClaimName;
    readonly text: string | undefined;
    readonly knownRevision: Revision;
  }[];
  /** The last events that dropped claims, by Subnet. */
  readonly dropped: readonly ConfigurationEntry[];
  /** The chunks of ended Pods that changed; undefined for a forgotten chunk. */
  readonly ended: readonly { readonly index: number; readonly text: string | undefined }[];
  readonly subnets: readonly ConfigurationEntry[];
  readonly pools: readonly ConfigurationEntry[];
  /** The segments that the events seal. Their keys must not exist. */
  readonly segments: readonly Segment[];
  /**
   * The segment at whose end the history now begins. Its key gets this value, and the keys of
   * earlier segments are deleted.
   */
  readonly historyStart?: Segment | undefined;
  /** Whether the append fails while the ledger is frozen. */
  readonly requiresUnfrozen: boolean;
  /** The create revision of the writer key, which rejects deposed writers. 0n: no writer. */
  readonly writer: Revision | undefined;
}

/** The empty changes of a batch. */
export const noChanges: Omit<Batch, 'head' | 'requiresUnfrozen' | 'writer'> = {
  events: [],
  claims: [],
  dropped: [],
  ended: [],
  subnets: [],
  pools: [],
  segments: [],
};

export type AppendOutcome =
  | { readonly kind: 'appended'; readonly revision: Revision }
  /** The head has moved, or more events exist. Read the end of the log and decide again. */
  | { readonly kind: 'moved' }
  /** The head is as known, but another replica is the writer. */
  | { readonly kind: 'deposed' }
  /** The head is as known, but the ledger is frozen. */
  | { readonly kind: 'frozen' }
  /** The head is as known, but another program edited the keys of these claims. */
  | { readonly kind: 'fenced'; readonly claims: readonly ClaimName[] }
  /** Rejected before execution. The same batch can never succeed. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /**
   * The append may have happened or may still happen: only the log shows it. `refusal` states why
   * etcd takes no writes and what to do, if etcd reported that. Then the append happened before the
   * report, or never.
   */
  | { readonly kind: 'unknown'; readonly reason: string; readonly refusal?: string };

/** All keys beside the log, at one revision. */
export interface LoadedSnapshot extends Configuration {
  readonly head: Head;
  /**
   * The claims in pages, because a ledger can have a million: etcd reads the next page while the
   * caller processes one. Can be read only once. Throws as Ledger does, and IpledgerError
   * LEDGER_DAMAGED for an invalid name of an address key.
   */
  readonly claims: AsyncIterable<Iterable<LoadedClaim>>;
}

/** `any` also accepts the head of a replay that has not ended, whose claims are incomplete. */
export type AcceptedHeads = 'complete' | 'any';

export interface LoadedClaim {
  readonly name: ClaimName;
  readonly revision: Revision;
  /** Undefined if the value is not a claim, because another program edited it. */
  readonly claim: Claim | undefined;
}

export interface StoredLine {
  readonly key: string;
  readonly text: string;
  /** The revision of the event's transaction, and so of its claims; 0n in the archive. */
  readonly revision: Revision;
}

export interface StoredKey {
  readonly key: string;
  readonly text: string;
  /** SHA-256 of the text in hexadecimal, if the reader has computed it. */
  readonly hash?: string;
  /** The revision of the last write of the key. The archive does not keep it. */
  readonly modRevision?: number | bigint;
}

/** Keys from `from` (included) to `end` (not included). */
export interface KeyRange {
  readonly from: string;
  readonly end: string;
}

export interface KeyPage {
  /** The revision of the store at which the page was read. */
  readonly revision: Revision;
  readonly keys: readonly StoredKey[];
  /**
   * Set if the keys are of the end state of a segment, and follow its last event: `part` if more of
   * that end state follows, else `last`.
   */
  readonly endState?: 'part' | 'last';
}

/** Reads keys without parsing them, for verification. */
export interface KeyReader {
  /**
   * The keys of a range with their values, in order, in one or more pages. All pages are of one
   * revision: the given one, or the current one at the first page (linearizable).
   * @throws IpledgerError UNAVAILABLE, also if etcd compacts that revision; AbortError.
   */
  keys(range: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage>;
}

/** Every method throws an IpledgerError, or an AbortError after an abort. */
export interface Ledger extends KeyReader {
  readonly limits: AppendLimits;
  /**
   * Loads head, Subnets, pools and claims at one revision.
   * @param heads `any` also loads a replay that has not ended. `complete` (default) throws
   * UnfinishedReplay for it
   */
  load(signal: AbortSignal, heads?: AcceptedHeads): Promise<LoadedSnapshot>;
  /** Never throws: each failure is an outcome. */
  append(batch: Batch): Promise<AppendOutcome>;
  /**
   * Reads the events from `from` to the current end, in pages. Linearizable. Gaps are not checked.
   * @throws IpledgerError POSITION_GONE if `from` is sealed and the archive is not available.
   */
  read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]>;
  /**
   * Reads the given events in the given order; undefined for a missing event. Linearizable.
   * @throws IpledgerError POSITION_GONE for a sealed event if the archive is not available.
   */
  readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]>;
  /** Reads the current head. Linearizable. @throws also UnfinishedReplay */
  head(signal: AbortSignal): Promise<Head>;
  /** Yields after each change of the head, and periodically, until the signal is aborted. */
  watchHead(signal: AbortSignal): AsyncIterable<void>;
}

export type EventReader = Pick<Ledger, 'readEach'>;

/** Reads and deletes at the boundary of archive and etcd. Throws as Ledger does. */
export interface SealedLog {
  /** The first event that is not sealed. Linearizable; it never decreases. */
  logStart(signal: AbortSignal): Promise<Seq>;
  /** The segments from the segment that begins at `from`, oldest first. Linearizable. */
  segments(from: Seq, signal: AbortSignal): Promise<readonly Segment[]>;
  /** Deletes some sealed events from etcd, oldest first. Returns whether more remain. */
  prune(signal: AbortSignal): Promise<boolean>;
}

/** Stores why the ledger is frozen, for all replicas. Throws as Ledger does. */
export interface FreezeStore {
  /** Returns undefined if the ledger is not frozen. Linearizable. */
  readFreeze(signal: AbortSignal): Promise<FreezeReason | undefined>;
  /**
   * Freezes the ledger. Does nothing if its epoch differs from that of `found`: an operator has
   * recovered it. In a frozen ledger, only a later position replaces the reason.
   */
  freeze(reason: FreezeReason, found: Head, signal: AbortSignal): Promise<void>;
  unfreeze(signal: AbortSignal): Promise<void>;
}

/** Shows whether the store was restored from a backup. Throws as Ledger does. */
export interface RestoreEvidence {
  /**
   * The number of revisions of the store after the last write of the head; 0 without a head.
   * Linearizable.
   */
  revisionsSinceHead(signal: AbortSignal): Promise<number>;
}

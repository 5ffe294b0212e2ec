/**
 * The port between the ledger and its store: the smallest interface that both etcd and a map in
 * memory can implement. Both implementations pass the same suite, ledger.contract.ts.
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
  /** The number of written and of compared keys. */
  readonly ops: number;
  /** The bytes of all keys and values together. */
  readonly bytes: number;
}

/** A Subnet or pool that takes effect, or is retired (undefined). */
export interface ConfigurationEntry {
  readonly name: string;
  readonly text: string | undefined;
}

/** One transaction: it happens completely or not at all. */
export interface Batch {
  /** The head must be `before`, and becomes `after`. */
  readonly head: { readonly before: Head; readonly after: Head };
  /** The events to append, whose keys must not exist. */
  readonly events: readonly { readonly seq: Seq; readonly text: string }[];
  /** Each key must be at its known revision. Text undefined: the claim is dropped. */
  readonly claims: readonly {
    readonly name: ClaimName;
    readonly text: string | undefined;
    readonly knownRevision: Revision;
  }[];
  /** The last events that dropped claims, by Subnet. */
  readonly dropped: readonly ConfigurationEntry[];
  /** The chunks of ended Pods that changed, or were forgotten (undefined). */
  readonly ended: readonly { readonly index: number; readonly text: string | undefined }[];
  readonly subnets: readonly ConfigurationEntry[];
  readonly pools: readonly ConfigurationEntry[];
  /** The segments that the events seal, whose keys must not exist. */
  readonly segments: readonly Segment[];
  /**
   * The segment with whose end state the history begins from now on: its key gets this value, and
   * those before it are deleted.
   */
  readonly historyStart?: Segment | undefined;
  /** Whether the append fails while the ledger is frozen. */
  readonly requiresUnfrozen: boolean;
  /** The create revision of the writer key, against deposed writers. 0n: no writer. */
  readonly writer: Revision | undefined;
}

/** What a batch changes, if it changes nothing. */
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
  /** The head has moved, or more events exist: read the log's tail and decide again. */
  | { readonly kind: 'moved' }
  /** The head is as known, but another replica is the writer. */
  | { readonly kind: 'deposed' }
  /** The head is as known, but the ledger is frozen. */
  | { readonly kind: 'frozen' }
  /** The head is as known, but another program edited the keys of these claims. */
  | { readonly kind: 'fenced'; readonly claims: readonly ClaimName[] }
  /** Rejected before execution: it can never succeed as it is. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /**
   * It may have happened, or may still happen: only the log shows it. `refusal` states why etcd
   * takes no writes, if it answered so, and what to do: the append happened before that answer, or
   * never.
   */
  | { readonly kind: 'unknown'; readonly reason: string; readonly refusal?: string };

/** All keys beside the log, at one revision. */
export interface LoadedSnapshot extends Configuration {
  readonly head: Head;
  /**
   * The claims in pages, because a ledger can have a million: etcd reads the next page while the
   * caller processes one. Can be read once. Throws as Ledger does, and IpledgerError LEDGER_DAMAGED
   * for the name of an address key.
   */
  readonly claims: AsyncIterable<Iterable<LoadedClaim>>;
}

/** Heads of ledgers with all claims, or also those of a replay that has not ended. */
export type AcceptedHeads = 'complete' | 'any';

/** An address key. */
export interface LoadedClaim {
  readonly name: ClaimName;
  readonly revision: Revision;
  /** Undefined for a value that is not a claim: another program edited it. */
  readonly claim: Claim | undefined;
}

/** A line of the log. */
export interface StoredLine {
  readonly key: string;
  readonly text: string;
  /** The revision of its transaction and claims; 0n in the archive. */
  readonly revision: Revision;
}

/** A key and its value. */
export interface StoredKey {
  readonly key: string;
  readonly text: string;
  /** SHA-256 of the text, hexadecimal, if the reader has computed it. */
  readonly hash?: string;
  /** The revision of its last write. The archive does not keep it. */
  readonly modRevision?: number | bigint;
}

/** Keys from `from` (included) to `end` (not included). */
export interface KeyRange {
  readonly from: string;
  readonly end: string;
}

export interface KeyPage {
  /** The revision of the store when the page was read. */
  readonly revision: Revision;
  readonly keys: readonly StoredKey[];
  /**
   * The keys are of the end state of a segment, and follow its last event. They are its next part,
   * or also its last.
   */
  readonly endState?: 'part' | 'last';
}

/** Unparsed keys, for verification. */
export interface KeyReader {
  /**
   * The keys of a range with their values, ordered, in one or more pages. All pages are of one
   * revision: the given one, or that of the first page (linearizable).
   * @throws IpledgerError UNAVAILABLE, also when etcd compacts that revision; AbortError.
   */
  keys(range: KeyRange, signal: AbortSignal, revision?: Revision): AsyncIterable<KeyPage>;
}

/** Every method throws an IpledgerError, or an AbortError after an abort. */
export interface Ledger extends KeyReader {
  readonly limits: AppendLimits;
  /**
   * Head, Subnets, pools and claims at one revision.
   * @param heads `any`: also while a replay has not ended; `complete` (default): it then throws
   * UnfinishedReplay
   */
  load(signal: AbortSignal, heads?: AcceptedHeads): Promise<LoadedSnapshot>;
  /** Never throws: each failure is an outcome. */
  append(batch: Batch): Promise<AppendOutcome>;
  /**
   * The events from `from` to the current end (linearizable), in pages. Gaps are not checked.
   * @throws IpledgerError POSITION_GONE when `from` is sealed and the archive is not available.
   */
  read(from: Seq, signal: AbortSignal): AsyncIterable<readonly StoredLine[]>;
  /**
   * The given events, in the given order; undefined for a missing one. Linearizable.
   * @throws IpledgerError POSITION_GONE for a sealed event when the archive is not available.
   */
  readEach(seqs: readonly Seq[], signal: AbortSignal): Promise<readonly (StoredLine | undefined)[]>;
  /** The current head; linearizable. @throws also UnfinishedReplay */
  head(signal: AbortSignal): Promise<Head>;
  /** Yields at least after each change of the head, and periodically, until an abort. */
  watchHead(signal: AbortSignal): AsyncIterable<void>;
}

/** Reads single events. */
export type EventReader = Pick<Ledger, 'readEach'>;

/** The access of sealing and of reads across archive and etcd. Throws as Ledger does. */
export interface SealedLog {
  /** The first event that is not sealed. Linearizable; it never decreases. */
  logStart(signal: AbortSignal): Promise<Seq>;
  /** The segments from the one that begins at `from`, oldest first. Linearizable. */
  segments(from: Seq, signal: AbortSignal): Promise<readonly Segment[]>;
  /** Deletes some sealed events from etcd, oldest first. Returns whether more remain. */
  prune(signal: AbortSignal): Promise<boolean>;
}

/** Stores the freeze of the ledger for all replicas. Throws as Ledger does. */
export interface FreezeStore {
  /** Why the ledger is frozen; undefined when it is not. Linearizable. */
  readFreeze(signal: AbortSignal): Promise<FreezeReason | undefined>;
  /**
   * Freezes the ledger, unless its epoch differs from that of `found`: then an operator has
   * recovered it. In a frozen ledger the first reason stays.
   */
  freeze(reason: FreezeReason, found: Head, signal: AbortSignal): Promise<void>;
  unfreeze(signal: AbortSignal): Promise<void>;
}

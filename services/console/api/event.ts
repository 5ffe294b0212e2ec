/** GET /api/v1/events, and the frames of /api/v1/events/stream. */
import type { Page } from './page.ts';

export interface PodName {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** An event, as `ipledger history` and `watch` print it. All texts are escaped. */
export interface EventRow {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  /** The actor: "kubernetes:alice", "ipledger://watcher". */
  readonly actor: string;
  readonly subnet: string;
  readonly addresses: readonly string[];
  readonly pod: PodName | null;
  readonly node: string;
  /** The cause, for example "pod-deleted"; '' for an event without a cause. */
  readonly cause: string;
  /** A sentence that describes the event. */
  readonly text: string;
  /** The event before this one in the history of each address; 0 for none. */
  readonly before: Readonly<Record<string, number>>;
}

/**
 * Query: `subnet`, `namespace` and `pod`, `node`, `owner` (with `ownerKind`), `address`, `since`,
 * `until`, `limit` (1 to 500, by default 100), `page`. Newest first.
 */
export type EventPage = Page<EventRow>;

/** GET /api/v1/events/SEQ. */
export interface EventDetail extends EventRow {
  /**
   * The line that the ledger stores, with invisible characters escaped. The hash is its SHA-256;
   * with that of the event before, it proves the event.
   */
  readonly stored: string;
  readonly hash: string;
  readonly prev: string;
}

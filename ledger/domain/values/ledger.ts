/** Values about the ledger: event numbers, sealed segments, restorations and signing keys. */

/** The number of an event: 1, 2, 3 and so on. 0 means "none". */
export type Seq = number;

/** `hash` is the hash of the last event; `manifest` is the SHA-256 of the segment's manifest. */
export interface SealedSegment {
  readonly from: Seq;
  readonly to: Seq;
  /** The times of the first and the last event, RFC 3339. */
  readonly since: string;
  readonly until: string;
  readonly hash: string;
  readonly manifest: string;
  /** The location of the archive, as text for people. */
  readonly archive: string;
  /** The size of the segment in the archive. Absent before schema version 7. */
  readonly files?: SegmentFiles;
}

export interface SegmentFiles {
  /** The total bytes of the segment's files. */
  readonly bytes: number;
  /** Whether the archive has the state at the segment's end, from which a replay can start. */
  readonly hasEndState: boolean;
}

export const hasEndState = ({ files }: Pick<SealedSegment, 'files'>): boolean => files?.hasEndState ?? true;

/** A sealed range of the log, and the event that records it. */
export type Segment = SealedSegment & {
  readonly seq: Seq;
  /**
   * The event that dropped this segment's events and all earlier events. Its end state stays: the
   * history begins there.
   */
  readonly dropped?: Seq;
};

/** Records that the history before an event was dropped, so that the archive keeps its limit. */
export interface DroppedHistory {
  /** The last dropped event, its time (RFC 3339) and its hash. */
  readonly to: Seq;
  readonly until: string;
  readonly hash: string;
  readonly reason: string;
}

/**
 * The segment at whose end the history begins; undefined for a complete history. It is always the
 * oldest segment.
 */
export const droppedSegment = ([oldest]: readonly Segment[]): Segment | undefined =>
  oldest?.dropped === undefined ? undefined : oldest;

/** The first event that is not dropped. */
export const historyStart = (segments: readonly Segment[]): Seq => (droppedSegment(segments)?.to ?? 0) + 1;

/** A restore of etcd from a backup up to `seq`. Acknowledged events up to `lostSeq` are lost. */
export interface Restoration {
  /** The new epoch. */
  readonly epoch: number;
  readonly seq: Seq;
  readonly hash: string;
  /** The last event of the previous epoch that a client or checkpoint has recorded; 0 for none. */
  readonly lostSeq: Seq;
  readonly reason: string;
}

/** Records that the ledger signs its checkpoints with a new key. */
export interface KeyRotation {
  /** Ed25519, base64. */
  readonly publicKey: string;
  readonly keyId: string;
  /** '' for the first key. */
  readonly previousKeyId: string;
  /** The previous key's signature of the new public key; '' for the first key. */
  readonly signature: string;
}

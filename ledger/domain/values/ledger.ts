/** Values about the ledger: event numbers, sealed segments, restorations and signing keys. */

/** The number of an event: 1, 2, 3 and so on. 0 means "none". */
export type Seq = number;

/** `hash` is that of the last event; `manifest` is the SHA-256 of the segment's manifest. */
export interface SealedSegment {
  readonly from: Seq;
  readonly to: Seq;
  /** The times of the first and the last event, RFC 3339. */
  readonly since: string;
  readonly until: string;
  readonly hash: string;
  readonly manifest: string;
  /** The archive, as text for people. */
  readonly archive: string;
  /** Its size in the archive. Absent before schema version 7. */
  readonly files?: SegmentFiles;
}

/** The files of a segment in the archive. */
export interface SegmentFiles {
  /** The bytes of all its files. */
  readonly bytes: number;
  /** Whether the state at its end is one of them: a fold can start there. */
  readonly hasEndState: boolean;
}

/** Whether the archive has the state at the end of a segment. */
export const hasEndState = ({ files }: Pick<SealedSegment, 'files'>): boolean => files?.hasEndState ?? true;

/** A sealed range of the log, and the event that records it. */
export type Segment = SealedSegment & { readonly seq: Seq };

/** etcd was restored from a backup up to `seq`: acknowledged events up to `lostSeq` are lost. */
export interface Restoration {
  /** The new epoch. */
  readonly epoch: number;
  readonly seq: Seq;
  readonly hash: string;
  /** The last event of the previous epoch that a client or checkpoint has recorded; 0 for none. */
  readonly lostSeq: Seq;
  readonly reason: string;
}

/** The ledger signs its checkpoints with a new key. */
export interface KeyRotation {
  /** Ed25519, base64. */
  readonly publicKey: string;
  readonly keyId: string;
  /** '' for the first key. */
  readonly previousKeyId: string;
  /** The previous key's signature of the new public key; '' for the first key. */
  readonly signature: string;
}

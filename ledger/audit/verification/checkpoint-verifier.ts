/**
 * Compares the ledger with checkpoints from outside etcd. A client with write access to etcd can
 * rewrite keys and hashes consistently, so that the keys alone show no change. But the hashes of a
 * rewritten ledger differ from its checkpoints.
 */
import { errorMessage } from '../../../lib/errors.ts';
import type { Checkpoint } from '../checkpoints/checkpoint.ts';
import type { VerifierKey } from '../checkpoints/signing-key.ts';
import { verifiedSigners } from '../checkpoints/signed-note.ts';
import { verifyRotation } from '../checkpoints/key-rotation.ts';
import type { KeyRotated, Sequenced } from '../../domain/events/event.ts';
import type { Seq } from '../../domain/values/ledger.ts';
import type { Head, StoredEvent } from '../../log/chain/chain.ts';
import { headKey, logKey } from '../../log/store/keys.ts';
import type { Finding } from './finding.ts';

export class CheckpointVerifier {
  readonly findings: Finding[] = [];
  /** Sorted by event. The checkpoints before `#next` are compared. */
  readonly #checkpoints: readonly Checkpoint[];
  #next = 0;
  #trusted: readonly VerifierKey[];
  /** The last event whose checkpoint matched. */
  #matchedSeq: Seq = 0;

  /** @param keys the trusted keys. A key that replaces a trusted key becomes trusted too. */
  constructor(checkpoints: readonly Checkpoint[], keys: readonly VerifierKey[]) {
    this.#checkpoints = checkpoints.toSorted((one, other) => one.head.seq - other.head.seq);
    this.#trusted = keys;
  }

  get comparedCount(): number {
    return this.#next;
  }

  /**
   * Begins after this head. Checkpoints of earlier events, which were dropped, cannot be compared.
   */
  begin(head: Head): void {
    this.findings.length = 0;
    this.#next = this.#checkpoints.filter((each) => each.head.seq < head.seq).length;
    this.#matchedSeq = head.seq;
    this.#compareAt(head);
  }

  checkEvent(head: Head, { sequenced }: StoredEvent): void {
    if (sequenced.type === 'KeyRotated') this.#rotate(head, sequenced);
    this.#compareAt(head);
  }

  #compareAt(head: Head): void {
    for (let next = this.#checkpoints[this.#next]; next?.head.seq === head.seq; next = this.#checkpoints[++this.#next])
      this.#compare(head, next);
  }

  /** Checks the end of the log. Without any compared checkpoint, nothing is proven: a finding. */
  checkEnd(head: Head): void {
    if (this.#checkpoints.length === 0) this.findings.push({ key: headKey, what: nothingCompared });
    for (const checkpoint of this.#checkpoints.slice(this.#next)) {
      this.#next++;
      if (!this.#isTrusted(checkpoint)) continue;
      const { seq } = checkpoint.head;
      const what = `event ${head.seq + 1} is missing: ${describeCheckpoint(checkpoint)} has ${seq} events, and the log ends with event ${head.seq}. The last events were deleted, or etcd was restored from a backup`;
      this.findings.push({ key: logKey(head.seq + 1), what });
    }
  }

  #compare(head: Head, checkpoint: Checkpoint): void {
    if (!this.#isTrusted(checkpoint)) return;
    const { ledger, epoch, hash, seq } = checkpoint.head;
    const key = logKey(seq);
    if (ledger !== head.ledger) {
      const what = `${describeCheckpoint(checkpoint)} is of ledger ${ledger}, but this is ledger ${head.ledger}`;
      this.findings.push({ key: headKey, what });
    } else if (hash !== head.hash) {
      const range = `An event from ${this.#matchedSeq + 1} to ${seq} was changed`;
      const restored = epoch < head.epoch ? `. The ledger was restored since: it is now in epoch ${head.epoch}` : '';
      const what = `event ${seq} differs from ${describeCheckpoint(checkpoint)}: its hash is ${head.hash}, that of the checkpoint ${hash}. ${range}${restored}`;
      this.findings.push({ key, what });
    } else this.#matchedSeq = seq;
  }

  #isTrusted({ head: { seq }, note }: Checkpoint): boolean {
    const key = logKey(seq);
    try {
      if (verifiedSigners(note, this.#trusted).length > 0) return true;
      const by = note.signatures.map(({ name, keyId }) => `${name} (key ${keyId})`).join(', ');
      const what = `the checkpoint of event ${seq} is signed by ${by}, which is not a trusted key at this event`;
      this.findings.push({ key, what });
    } catch (error) {
      const what = `the checkpoint of event ${seq}: ${errorMessage(error)}`;
      this.findings.push({ key, what });
    }
    return false;
  }

  /** Replaces the old key, which is no longer trusted: it may have leaked. */
  #rotate({ ledger, seq }: Head, { data }: Sequenced<KeyRotated>): void {
    const old = this.#trusted.find(({ id }) => id === data.previousKeyId);
    if (!old) return; // the rotation of an untrusted key
    const key = verifyRotation(ledger, old, data);
    if (key) this.#trusted = this.#trusted.map((each) => (each === old ? key : each));
    else
      this.findings.push({ key: logKey(seq), what: `event ${seq} rotates to a key that key ${old.id} did not sign` });
  }
}

const nothingCompared =
  'no checkpoint was compared: none was given, so that nothing proves this log. If a file of checkpoints is empty, another program emptied it';

const describeCheckpoint = ({ head: { at } }: Checkpoint): string => `the checkpoint of ${new Date(at).toISOString()}`;

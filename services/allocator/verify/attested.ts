/**
 * The ledger held to checkpoints that were kept elsewhere. Whoever rewrites the keys can rewrite their hashes too, so the keys alone
 * do not show it; but such a ledger does not lead to the hashes that were attested.
 */
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import type { VerifierKey } from '../checkpoint/key.ts';
import { signersOf } from '../checkpoint/note.ts';
import { rotatedTo } from '../checkpoint/rotation.ts';
import type { KeyRotated, Sequenced, Seq } from '../domain/event.ts';
import type { Head, StoredEvent } from '../ledger/chain.ts';
import { headKey, logKey } from '../ledger/keys.ts';
import type { Finding } from './finding.ts';

export class Attested {
  readonly findings: Finding[] = [];
  /** In order; what lies before `#next` was compared. */
  readonly #checkpoints: readonly Checkpoint[];
  #next = 0;
  #trusted: readonly VerifierKey[];
  /** The last event up to which the ledger is what was attested. */
  #heldTo: Seq = 0;

  /** @param keys whose checkpoints are believed; those that they are rotated to are, too. */
  constructor(checkpoints: readonly Checkpoint[], keys: readonly VerifierKey[]) {
    this.#checkpoints = checkpoints.toSorted((one, other) => one.head.seq - other.head.seq);
    this.#trusted = keys;
  }

  /** How many checkpoints the ledger was held to. */
  get compared(): number {
    return this.#next;
  }

  /** Takes an event, and the head behind it. */
  look(head: Head, { sequenced }: StoredEvent): void {
    if (sequenced.type === 'KeyRotated') this.#rotate(head, sequenced);
    for (let next = this.#checkpoints[this.#next]; next?.head.seq === head.seq; next = this.#checkpoints[++this.#next])
      this.#hold(head, next);
  }

  /** There are no more events. */
  end(head: Head): void {
    for (const checkpoint of this.#checkpoints.slice(this.#next)) {
      this.#next++;
      if (!this.#believes(checkpoint)) continue;
      const { seq } = checkpoint.head;
      const what = `event ${head.seq + 1} is missing: ${of(checkpoint)} attests ${seq} events, and the log ends with ${head.seq}. Its tail was cut, or etcd was restored from a backup`;
      this.findings.push({ key: logKey(head.seq + 1), what });
    }
  }

  #hold(head: Head, checkpoint: Checkpoint): void {
    if (!this.#believes(checkpoint)) return;
    const { ledger, epoch, hash, seq } = checkpoint.head;
    const key = logKey(seq);
    if (ledger !== head.ledger) {
      const what = `${of(checkpoint)} is of ledger ${ledger}, and this is ${head.ledger}`;
      this.findings.push({ key: headKey, what });
    } else if (hash !== head.hash) {
      const since = `something from event ${this.#heldTo + 1} to ${seq} is not as it was`;
      const restored = epoch < head.epoch ? `. The ledger was restored since: it is of epoch ${head.epoch} here` : '';
      const what = `event ${seq} is not the one that ${of(checkpoint)} attests: its bytes hash to ${head.hash}, attested is ${hash}; ${since}${restored}`;
      this.findings.push({ key, what });
    } else this.#heldTo = seq;
  }

  #believes({ head: { seq }, note }: Checkpoint): boolean {
    const key = logKey(seq);
    try {
      if (signersOf(note, this.#trusted).length > 0) return true;
      const by = note.signatures.map(({ name, keyId }) => `${name} (key ${keyId})`).join(', ');
      const what = `the checkpoint of event ${seq} is signed by ${by}, and that is no key that is trusted there`;
      this.findings.push({ key, what });
    } catch (error) {
      const what = `the checkpoint of event ${seq}: ${error instanceof Error ? error.message : String(error)}`;
      this.findings.push({ key, what });
    }
    return false;
  }

  /** From here on the old key is not trusted any more: it may be in anybody's hands. */
  #rotate({ ledger, seq }: Head, { data }: Sequenced<KeyRotated>): void {
    const old = this.#trusted.find(({ id }) => id === data.previousKeyId);
    if (!old) return; // of a key that nobody here trusts
    const key = rotatedTo(ledger, old, data);
    if (key) this.#trusted = this.#trusted.map((each) => (each === old ? key : each));
    else this.findings.push({ key: logKey(seq), what: `event ${seq} names a key that key ${old.id} did not sign` });
  }
}

const of = ({ head: { at } }: Checkpoint): string => `the checkpoint of ${new Date(at).toISOString()}`;

/**
 * Loads the key that signs checkpoints from a file. If the file has a new key, the old key signs
 * the new one in the ledger (KeyRotated). Every replica that reads this event signs with the new
 * key from then on.
 */
import { readFileSync } from 'node:fs';
import { errorMessage } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { parseSignerKey, type SignerKey, type VerifierKey } from './signing-key.ts';
import { signRotation } from './key-rotation.ts';
import type { StoredEvent } from '../../log/chain/chain.ts';
import type { Replica } from '../../log/reader/replica.ts';
import type { Writer } from '../../log/writer/writer.ts';

export class CheckpointSigner {
  readonly #file: string;
  readonly #replica: Replica;
  readonly #log: Logger;
  #signer: SignerKey;
  /** True while the ledger lacks the rotation. No checkpoint is signed in that time. */
  #isRotating = false;
  /** The id of the new key that the log names, while the file does not have it yet. */
  #successor: string | undefined;

  /** @throws Error if the file has no key. */
  constructor(file: string, replica: Replica, log: Logger) {
    this.#file = file;
    this.#replica = replica;
    this.#log = log;
    this.#signer = readKey(file);
    replica.onCommitted((events) => this.#followRotations(events));
  }

  /** Undefined during a rotation, and afterwards until the file has the new key. */
  get signer(): SignerKey | undefined {
    return this.#isRotating || this.#successor !== undefined ? undefined : this.#signer;
  }

  get verifier(): VerifierKey {
    return this.#signer.verifier;
  }

  /**
   * Appends a rotation if the file has a new key.
   * @throws Error if the file has no key, or another key than the log names; errors of the writer.
   */
  async rotateIfReplaced(writer: Writer, signal: AbortSignal): Promise<void> {
    const next = readKey(this.#file);
    if (this.#successor !== undefined && !this.#adopt(this.#successor))
      throw new Error(
        `the log has a rotation from key ${this.verifier.id} to key ${this.#successor}, but ${this.#file} has another key: store key ${this.#successor} there`,
      );
    this.#isRotating = next.verifier.text !== this.verifier.text;
    if (!this.#isRotating) return;
    const data = signRotation(this.#replica.head.ledger, this.#signer, next.verifier);
    const command = (now: number) => ({ type: 'RotateKey' as const, now, ...data });
    await writer.submit({ command, answer: () => undefined, actor: 'allocator', signal });
    this.#isRotating = false;
  }

  /**
   * Stops using the old key after a rotation in the log, because its signatures are no longer
   * trusted.
   */
  #followRotations(events: readonly StoredEvent[]): void {
    for (const { sequenced } of events) {
      if (sequenced.type !== 'KeyRotated') continue;
      const { previousKeyId, keyId } = sequenced.data;
      if (previousKeyId !== (this.#successor ?? this.verifier.id)) continue;
      this.#successor = keyId;
      this.#adopt(keyId);
    }
  }

  /** Switches to the key with this id if the file has it. */
  #adopt(keyId: string): boolean {
    const next = tryReadKey(this.#file);
    if (next?.verifier.id !== keyId) return false;
    const { id: previous } = this.verifier;
    this.#signer = next;
    this.#successor = undefined;
    const { text: verifier } = next.verifier;
    this.#log.warn(
      { previousKeyId: previous, verifier },
      'the checkpoint key was rotated: add the new verifier key to the auditors',
    );
    return true;
  }
}

function readKey(file: string): SignerKey {
  try {
    return parseSignerKey(readFileSync(file, 'utf8').trim());
  } catch (error) {
    throw new Error(`the checkpoint key file ${file} is not usable: ${errorMessage(error)}`, { cause: error });
  }
}

function tryReadKey(file: string): SignerKey | undefined {
  try {
    return readKey(file);
  } catch {
    return undefined; // the file is being replaced; the caller tries again
  }
}

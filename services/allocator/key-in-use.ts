/**
 * The key that checkpoints are signed with: the one in its file. When a new one is put there, the old one vouches for it in the
 * ledger, and every replica that reads so in the log signs with the new one from then on.
 */
import { readFileSync } from 'node:fs';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { parseSignerKey, type SignerKey, type VerifierKey } from './checkpoint/key.ts';
import { rotate } from './checkpoint/rotation.ts';
import type { StoredEvent } from './ledger/chain.ts';
import type { Replica } from './ledger/replica.ts';
import type { Writer } from './ledger/writer.ts';

export class KeyInUse {
  readonly #file: string;
  readonly #replica: Replica;
  readonly #log: Logger;
  #signer: SignerKey;
  /** True while the old key vouches for a new one, until that is known to stand in the ledger: meanwhile nothing is signed. */
  #isGivingWay = false;
  /** Id of the key that has replaced ours by what the log says, as long as it is not at hand. */
  #successor: string | undefined;

  /** @throws Error when the file holds no key. */
  constructor(file: string, replica: Replica, log: Logger) {
    this.#file = file;
    this.#replica = replica;
    this.#log = log;
    this.#signer = keyIn(file);
    replica.onCommitted((events) => this.#learn(events));
  }

  /** undefined while it gives way to another, and afterwards until that other is at hand. */
  get signer(): SignerKey | undefined {
    return this.#isGivingWay || this.#successor !== undefined ? undefined : this.#signer;
  }

  /** What it is known by. */
  get verifier(): VerifierKey {
    return this.#signer.verifier;
  }

  /**
   * Has the key vouch for another that lies in its file by now.
   * @throws Error when the file holds none that is believed; what the writer throws.
   */
  async follow(writer: Writer, signal: AbortSignal): Promise<void> {
    const next = keyIn(this.#file);
    if (this.#successor !== undefined && !this.#adopt(this.#successor))
      throw new Error(
        `the log says that key ${this.verifier.id} gave way to key ${this.#successor}, and ${this.#file} holds another`,
      );
    this.#isGivingWay = next.verifier.text !== this.verifier.text;
    if (!this.#isGivingWay) return;
    const data = rotate(this.#replica.head.ledger, this.#signer, next.verifier);
    const command = (now: number) => ({ type: 'RotateKey' as const, now, ...data });
    await writer.submit({ command, answer: () => undefined, actor: 'allocator', signal });
    this.#isGivingWay = false;
  }

  /** Once the log says that a key gave way, nothing that it signs is believed any more, whoever wrote that event. */
  #learn(events: readonly StoredEvent[]): void {
    for (const { sequenced } of events) {
      if (sequenced.type !== 'KeyRotated') continue;
      const { previousKeyId, keyId } = sequenced.data;
      if (previousKeyId !== (this.#successor ?? this.verifier.id)) continue;
      this.#successor = keyId;
      this.#adopt(keyId);
    }
  }

  /** Signs with this key from now on, where that is what the file holds. */
  #adopt(keyId: string): boolean {
    const next = keyIfAny(this.#file);
    if (next?.verifier.id !== keyId) return false;
    const { id: previous } = this.verifier;
    this.#signer = next;
    this.#successor = undefined;
    const { text: verifier } = next.verifier;
    this.#log.warn({ previous, verifier }, 'checkpoints are signed with another key from now on');
    return true;
  }
}

function keyIn(file: string): SignerKey {
  try {
    return parseSignerKey(readFileSync(file, 'utf8').trim());
  } catch (error) {
    const why = error instanceof IpledgerError || error instanceof Error ? error.message : String(error);
    throw new Error(`the key of checkpoints, ${file}: ${why}`, { cause: error });
  }
}

function keyIfAny(file: string): SignerKey | undefined {
  try {
    return keyIn(file);
  } catch {
    return undefined; // it is being replaced: it is looked for again
  }
}

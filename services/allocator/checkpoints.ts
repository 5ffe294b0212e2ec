/**
 * Checkpoints on a schedule: the writer signs where the ledger is, and says so to a file and on stdout, for whoever keeps them
 * elsewhere. When another key lies in its key's file, the old one vouches for it in the ledger, and it is used from then on.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { pause } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import { signCheckpoint } from './checkpoint/checkpoint.ts';
import { parseSignerKey, type SignerKey } from './checkpoint/key.ts';
import { rotate } from './checkpoint/rotation.ts';
import type { StoredEvent } from './ledger/chain.ts';
import type { Brake, Ledger } from './ledger/ledger.ts';
import type { Replica } from './ledger/replica.ts';
import type { Writer } from './ledger/writer.ts';
import { holdToKept } from './start.ts';

/** What the allocator is told about them. */
export interface CheckpointSettings {
  readonly checkpointKey: string;
  readonly checkpointFile: string;
  readonly checkpointEvery: number;
}

/** The flags for it. */
export const checkpointOptions = (): Option[] => [
  new Option('--checkpoint-key <file>', 'sign checkpoints with this key (ipledger checkpoint-key); none if empty')
    .env('IPLEDGER_CHECKPOINT_KEY')
    .default(''),
  new Option('--checkpoint-file <file>', 'append them here, too; they are always on stdout')
    .env('IPLEDGER_CHECKPOINT_FILE')
    .default(''),
  new Option('--checkpoint-every <seconds>', 'how often, while anything happens')
    .env('IPLEDGER_CHECKPOINT_EVERY')
    .argParser(parseSeconds)
    .default(300),
];

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400)) throw new InvalidArgumentError('It is a number of seconds, up to a day.');
  return seconds;
}

export interface CheckpointOptions {
  readonly replica: Replica;
  /** While we are the writer. */
  readonly writer: () => Writer | undefined;
  readonly log: Logger;
  /** Where they are said; on stdout unless it is given. */
  readonly print?: (note: string) => void;
}

export class Checkpoints {
  readonly #settings: CheckpointSettings;
  readonly #options: CheckpointOptions;
  #signer: SignerKey;
  /** From when the old key vouches for the new one until that is known to stand in the ledger nothing is signed. */
  #rotating = false;
  /** Id of the key that ours gave way to by what the log says, until it is at hand. */
  #successor: string | undefined;
  /** The last event that was signed for. */
  #signedSeq = 0;

  private constructor(settings: CheckpointSettings, options: CheckpointOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#signer = signerIn(settings.checkpointKey);
    options.replica.onCommitted((events) => this.#learn(events));
    options.log.info({ verifier: this.#signer.verifier.text }, 'checkpoints are signed');
  }

  /** undefined where there is no key to sign with. @throws Error when its file holds none. */
  static by(settings: CheckpointSettings, options: CheckpointOptions): Checkpoints | undefined {
    return settings.checkpointKey === '' ? undefined : new Checkpoints(settings, options);
  }

  /** undefined while it gives way to another, or did, and that is not at hand. */
  get signer(): SignerKey | undefined {
    return this.#rotating || this.#successor !== undefined ? undefined : this.#signer;
  }

  /** Holds the ledger to what was kept of it, before anybody is served. As `holdToKept` throws. */
  async holdLedger(live: Ledger & Brake, by: string, signal: AbortSignal): Promise<void> {
    const { replica, log } = this.#options;
    const { checkpointFile: file } = this.#settings;
    const { verifier: key } = this.#signer;
    await holdToKept(live, { file, key, ledger: replica.head.ledger, by, log }, signal);
  }

  /** Goes on until the signal is aborted; what fails is tried again next time. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#settings.checkpointEvery * 1_000, signal);
      const writer = this.#options.writer();
      if (!writer || signal.aborted) continue;
      try {
        await this.#followKey(writer, signal);
        this.#emit();
      } catch (error) {
        this.#options.log.error({ err: error }, 'no checkpoint could be kept');
      }
    }
  }

  #emit(): void {
    const { replica, print = (note: string) => void process.stdout.write(note) } = this.#options;
    const { checkpointFile: file } = this.#settings;
    const { head } = replica;
    if (head.seq === this.#signedSeq) return;
    // An empty line between notes, for those who read them.
    const note = `${signCheckpoint(head, this.#signer)}\n`;
    print(note);
    this.#signedSeq = head.seq;
    if (file !== '') appendFileSync(file, note);
  }

  /** Has the old key vouch for another that lies in its file. */
  async #followKey(writer: Writer, signal: AbortSignal): Promise<void> {
    const { replica } = this.#options;
    const { checkpointKey: file } = this.#settings;
    const { id } = this.#signer.verifier;
    const next = signerIn(file);
    if (this.#successor !== undefined && !this.#adopt(this.#successor))
      throw new Error(`the log says that key ${id} gave way to key ${this.#successor}, and ${file} holds another`);
    this.#rotating = next.verifier.text !== this.#signer.verifier.text;
    if (!this.#rotating) return;
    const data = rotate(replica.head.ledger, this.#signer, next.verifier);
    const command = (now: number) => ({ type: 'RotateKey' as const, now, ...data });
    await writer.submit({ command, answer: () => undefined, actor: 'allocator', signal });
    this.#rotating = false;
  }

  /** Whoever wrote it, a key that gave way signs nothing that is believed any more. */
  #learn(events: readonly StoredEvent[]): void {
    for (const { sequenced } of events) {
      if (sequenced.type !== 'KeyRotated') continue;
      const { previousKeyId, keyId } = sequenced.data;
      if (previousKeyId !== (this.#successor ?? this.#signer.verifier.id)) continue;
      this.#successor = keyId;
      this.#adopt(keyId);
    }
  }

  /** Signs with this key from now on, where that is what the file holds. */
  #adopt(keyId: string): boolean {
    const next = signerIfAny(this.#settings.checkpointKey);
    if (next?.verifier.id !== keyId) return false;
    const { id: previous } = this.#signer.verifier;
    this.#signer = next;
    this.#successor = undefined;
    const { verifier } = next;
    this.#options.log.warn(
      { previous, verifier: verifier.text },
      'checkpoints are signed with another key from now on',
    );
    return true;
  }
}

function signerIn(file: string): SignerKey {
  try {
    return parseSignerKey(readFileSync(file, 'utf8').trim());
  } catch (error) {
    const why = error instanceof IpledgerError || error instanceof Error ? error.message : String(error);
    throw new Error(`the key of checkpoints, ${file}: ${why}`, { cause: error });
  }
}

function signerIfAny(file: string): SignerKey | undefined {
  try {
    return signerIn(file);
  } catch {
    return undefined; // it is being replaced: it is looked for again
  }
}

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
import type { Replica } from './ledger/replica.ts';
import type { Writer } from './ledger/writer.ts';

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
}

export class Checkpoints {
  readonly #settings: CheckpointSettings;
  readonly #options: CheckpointOptions;
  #signer: SignerKey;
  /** From when the old key vouches for the new one until that is known to stand in the ledger nothing is signed. */
  #rotating = false;
  /** The last event that was signed for. */
  #signedSeq = 0;

  private constructor(settings: CheckpointSettings, options: CheckpointOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#signer = signerIn(settings.checkpointKey);
    options.log.info({ verifier: this.#signer.verifier.text }, 'checkpoints are signed');
  }

  /** undefined where there is no key to sign with. @throws Error when its file holds none. */
  static by(settings: CheckpointSettings, options: CheckpointOptions): Checkpoints | undefined {
    return settings.checkpointKey === '' ? undefined : new Checkpoints(settings, options);
  }

  /** undefined while it gives way to another. */
  get signer(): SignerKey | undefined {
    return this.#rotating ? undefined : this.#signer;
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
    const { head } = this.#options.replica;
    const { checkpointFile: file } = this.#settings;
    if (head.seq === this.#signedSeq) return;
    const note = signCheckpoint(head, this.#signer);
    // An empty line between notes, for those who read them.
    if (file !== '') appendFileSync(file, `${note}\n`);
    process.stdout.write(`${note}\n`);
    this.#signedSeq = head.seq;
  }

  async #followKey(writer: Writer, signal: AbortSignal): Promise<void> {
    const { replica, log } = this.#options;
    const next = signerIn(this.#settings.checkpointKey);
    const { id, text } = this.#signer.verifier;
    this.#rotating = next.verifier.text !== text;
    if (!this.#rotating) return;
    const data = rotate(replica.head.ledger, this.#signer, next.verifier);
    const command = (now: number) => ({ type: 'RotateKey' as const, now, ...data });
    await writer.submit({ command, answer: () => undefined, actor: 'allocator', signal });
    this.#signer = next;
    this.#rotating = false;
    log.warn({ previous: id, verifier: next.verifier.text }, 'checkpoints are signed with another key from now on');
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

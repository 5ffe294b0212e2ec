/**
 * Checkpoints on a schedule: the writer signs where the ledger stands, on stdout and to a file; for whoever keeps them elsewhere,
 * and for itself when it is started again.
 */
import { appendFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { pause } from '../../lib/deadline.ts';
import type { Logger } from '../../lib/log.ts';
import { signCheckpoint } from './checkpoint/checkpoint.ts';
import type { SignerKey } from './checkpoint/key.ts';
import { holdToKept } from './held.ts';
import { KeyInUse } from './key-in-use.ts';
import type { Brake, Ledger } from './ledger/ledger.ts';
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
  /** Where they are said; on stdout unless it is given. */
  readonly print?: (note: string) => void;
}

export class Checkpoints {
  readonly #settings: CheckpointSettings;
  readonly #options: CheckpointOptions;
  readonly #key: KeyInUse;
  /** Of the last checkpoint that was printed, and is in the file if there is one. */
  #keptSeq = 0;

  private constructor(settings: CheckpointSettings, options: CheckpointOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#key = new KeyInUse(settings.checkpointKey, options.replica, options.log);
    options.log.info({ verifier: this.#key.verifier.text }, 'checkpoints are signed');
  }

  /** undefined where there is no key to sign with. @throws Error when its file holds none, or they would be kept and there is no key. */
  static by(settings: CheckpointSettings, options: CheckpointOptions): Checkpoints | undefined {
    if (settings.checkpointKey !== '') return new Checkpoints(settings, options);
    if (settings.checkpointFile === '') return undefined;
    throw new Error(
      `--checkpoint-file ${settings.checkpointFile} keeps nothing without a key to sign with: --checkpoint-key`,
    );
  }

  /** undefined while the key is being replaced. */
  get signer(): SignerKey | undefined {
    return this.#key.signer;
  }

  /** Holds the ledger to what was kept of it, before anybody is served. As `holdToKept` throws. */
  async holdLedger(live: Ledger & Brake, by: string, signal: AbortSignal): Promise<void> {
    const { replica, log } = this.#options;
    const { checkpointFile: file } = this.#settings;
    const { verifier: key } = this.#key;
    await holdToKept(live, { file, key, ledger: replica.head.ledger, by, log }, signal);
  }

  /** Goes on until the signal is aborted; what fails is tried again next time. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#settings.checkpointEvery * 1_000, signal);
      const writer = this.#options.writer();
      if (!writer || signal.aborted) continue;
      try {
        await this.#key.follow(writer, signal);
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
    const { signer } = this.#key;
    if (!signer || head.seq === this.#keptSeq) return;
    // An empty line between notes, for those who read them.
    const note = `${signCheckpoint(head, signer)}\n`;
    print(note);
    if (file !== '') appendFileSync(file, note);
    this.#keptSeq = head.seq;
  }
}

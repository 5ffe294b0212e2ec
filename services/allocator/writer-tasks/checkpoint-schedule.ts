/**
 * Signs checkpoints at an interval while this replica is the writer, and writes them to stdout and
 * to a file. Auditors keep copies. An allocator compares the ledger with its own file at its start.
 */
import { appendFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { pause } from '../../../lib/process/abortable.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { signCheckpoint } from '../../../ledger/audit/checkpoints/checkpoint.ts';
import type { SignerKey } from '../../../ledger/audit/checkpoints/signing-key.ts';
import { isFolder } from '../../../ledger/audit/checkpoints/checkpoint-file.ts';
import { checkLastCheckpoint } from '../start/rollback-check.ts';
import { CheckpointSigner } from '../../../ledger/audit/checkpoints/checkpoint-signer.ts';
import type { FreezeStore, Ledger } from '../../../ledger/log/store/ledger.ts';
import type { Replica } from '../../../ledger/log/reader/replica.ts';
import type { Writer } from '../../../ledger/log/writer/writer.ts';

/** The values of `checkpointOptions`. */
export interface CheckpointSettings {
  /** The file of the signing key; '' if no checkpoints are signed. */
  readonly checkpointKey: string;
  /** The file for checkpoints; '' for none. */
  readonly checkpointFile: string;
  /** The interval in seconds. */
  readonly checkpointEvery: number;
}

/** The flags. Each has an environment variable. */
export const checkpointOptions = (): Option[] => [
  new Option(
    '--checkpoint-key <file>',
    'file with the key that signs checkpoints (made by ipledger checkpoint-key); no checkpoints if empty',
  )
    .env('IPLEDGER_CHECKPOINT_KEY')
    .default(''),
  new Option(
    '--checkpoint-file <file>',
    'file that checkpoints are appended to, or folder of those that others keep; they are always printed to stdout',
  )
    .env('IPLEDGER_CHECKPOINT_FILE')
    .default(''),
  new Option('--checkpoint-every <seconds>', 'interval between checkpoints, if there are new events')
    .env('IPLEDGER_CHECKPOINT_EVERY')
    .argParser(parseSeconds)
    .default(300),
];

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 86_400))
    throw new InvalidArgumentError('Expected a number of seconds, at most 86400 (a day).');
  return seconds;
}

export interface CheckpointScheduleOptions {
  readonly replica: Replica;
  /** Returns undefined while another replica is the writer. */
  readonly writer: () => Writer | undefined;
  readonly log: Logger;
  /** Prints a checkpoint. Default: to stdout. */
  readonly print?: (note: string) => void;
}

export class CheckpointSchedule {
  readonly #settings: CheckpointSettings;
  readonly #options: CheckpointScheduleOptions;
  readonly #signer: CheckpointSigner;
  /** The event of the last checkpoint that was printed and appended to the file. */
  #emittedSeq = 0;

  private constructor(settings: CheckpointSettings, options: CheckpointScheduleOptions) {
    this.#settings = settings;
    this.#options = options;
    this.#signer = new CheckpointSigner(settings.checkpointKey, options.replica, options.log);
    options.log.info({ verifier: this.#signer.verifier.text }, 'checkpoints are signed');
  }

  /** Returns undefined without a key. @throws Error for an invalid or missing key file */
  static create(settings: CheckpointSettings, options: CheckpointScheduleOptions): CheckpointSchedule | undefined {
    if (settings.checkpointKey !== '') return new CheckpointSchedule(settings, options);
    if (settings.checkpointFile === '') return undefined;
    throw new Error(
      `--checkpoint-file ${settings.checkpointFile} needs a key that signs the checkpoints: set --checkpoint-key`,
    );
  }

  /** Undefined while this replica does not have the ledger's current key. */
  get signer(): SignerKey | undefined {
    return this.#signer.signer;
  }

  /** Compares the ledger with the file's last checkpoint. Freezes the ledger if it was rewound. */
  async checkRollback(live: Ledger & FreezeStore, by: string, signal: AbortSignal): Promise<void> {
    const { replica, log } = this.#options;
    const { checkpointFile: file } = this.#settings;
    const { verifier: key } = this.#signer;
    await checkLastCheckpoint(live, { file, key, ledger: replica.head.ledger, by, log }, signal);
  }

  /** Runs until the signal is aborted. A failed checkpoint is retried at the next interval. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#settings.checkpointEvery * 1_000, signal);
      const writer = this.#options.writer();
      if (!writer || signal.aborted) continue;
      try {
        await this.#signer.rotateIfReplaced(writer, signal);
        this.#emitCheckpoint();
      } catch (error) {
        this.#options.log.error({ err: error }, 'no checkpoint was written; the allocator tries again');
      }
    }
  }

  #emitCheckpoint(): void {
    const { replica, print = (note: string) => void process.stdout.write(note) } = this.#options;
    const { checkpointFile: file } = this.#settings;
    const { head } = replica;
    const { signer } = this.#signer;
    if (!signer || head.seq === this.#emittedSeq) return;
    // Notes are separated by an empty line.
    const note = `${signCheckpoint(head, signer)}\n`;
    print(note);
    if (file !== '' && !isFolder(file)) appendFileSync(file, note);
    this.#emittedSeq = head.seq;
  }
}

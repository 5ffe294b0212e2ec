/** The options that most verbs have, and how a verb runs: it connects, and prints one answer. */
import { type Command, Option } from 'commander';
import { type LedgerClient, openAllocatorClient, openReadModelClient } from '../clients/ledger-client.ts';
import { type AllocatorOptions, addAllocatorOptions, targetOf } from './allocator-options.ts';
import { type Answer, type OutputFormat, outputFormats, printAnswer, type OutputStyle } from '../output/answer.ts';

export interface VerbOptions extends AllocatorOptions {
  readonly output: OutputFormat;
  readonly utc: boolean;
}

/** The options of a verb whose query the allocator and the read model can answer. */
export interface ReadModelOptions extends VerbOptions {
  readonly readModel?: string;
}

/** Adds `--output`, `--utc` and the options of the allocator. */
export const addVerbOptions = (verb: Command): Command =>
  addAllocatorOptions(
    verb
      .addOption(new Option('-o, --output <format>', 'output format').choices(outputFormats).default('table'))
      .option('--utc', 'read and print times in UTC instead of local time', false),
  );

/** Adds the options of addVerbOptions and `--read-model`. */
export const addReadModelOptions = (verb: Command): Command =>
  addVerbOptions(verb).addOption(
    new Option('--read-model <host:port>', 'address of the read model, which has an index for this query').env(
      'IPLEDGER_READ_MODEL',
    ),
  );

export const outputStyle = ({ output, utc }: VerbOptions): OutputStyle => ({ output, zone: utc ? 'utc' : 'local' });

/** Calls `run` with a connection to the allocator. Ctrl-C aborts its requests. */
export async function withAllocator(
  options: VerbOptions,
  run: (allocator: LedgerClient, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const signal = createInterruptSignal();
  using allocator = openAllocatorClient(targetOf(options), signal);
  await run(allocator, signal);
}

/** Calls `run` with a connection to the read model; without `--read-model`, to the allocator. */
export async function withReadModel(
  options: ReadModelOptions,
  run: (client: LedgerClient, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (!options.readModel) return withAllocator(options, run);
  const signal = createInterruptSignal();
  using readModel = openReadModelClient(options.readModel, signal);
  await run(readModel, signal);
}

/** Calls `run` with connections to the allocator and to the read model, if there is one. */
export const withIndex = (
  options: ReadModelOptions,
  run: (allocator: LedgerClient, readModel: LedgerClient | undefined, signal: AbortSignal) => Promise<void>,
): Promise<void> =>
  withAllocator(options, async (allocator, signal) => {
    using readModel = options.readModel ? openReadModelClient(options.readModel, signal) : undefined;
    await run(allocator, readModel, signal);
  });

/** Prints an answer of the allocator, and of the read model if there is one. */
export const runWithIndex = (
  options: ReadModelOptions,
  request: (allocator: LedgerClient, readModel: LedgerClient | undefined) => Promise<Answer>,
): Promise<void> =>
  withIndex(options, async (allocator, readModel) =>
    printAnswer(outputStyle(options), await request(allocator, readModel)),
  );

/** Requests an answer from the allocator and prints it. */
export const runAndPrint = (
  options: VerbOptions,
  request: (allocator: LedgerClient, signal: AbortSignal) => Promise<Answer>,
): Promise<void> =>
  withAllocator(options, async (allocator, signal) =>
    printAnswer(outputStyle(options), await request(allocator, signal)),
  );

/** Returns a signal that Ctrl-C aborts. A second Ctrl-C ends the process. */
export function createInterruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort());
  return interrupted.signal;
}

/** What all verbs share: their options, a channel to the allocator while they run, and how their answer is printed. */
import { type Command, Option } from 'commander';
import { type Allocator, openAllocator, openIndex } from './allocator.ts';
import { untilInterrupted } from './interrupt.ts';
import { type Answer, type OutputFormat, outputFormats, print, type Style } from './output.ts';

export interface VerbOptions {
  readonly allocator: string;
  readonly output: OutputFormat;
  readonly utc: boolean;
}

/** Of verbs that the read model can answer, too. */
export interface IndexedOptions extends VerbOptions {
  readonly index?: string;
}

/** Adds a verb to the program with the options that every verb has. `usage` is its name and arguments. */
export function addVerb(program: Command, usage: string, description: string): Command {
  return program
    .command(usage)
    .description(description)
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(outputFormats).default('table'))
    .option('--utc', 'times are in UTC, those that are shown and those that are given; else local', false)
    .addOption(
      new Option('--allocator <host:port>', 'where the allocator is; its replicas joined with commas')
        .env('IPLEDGER_ENDPOINT')
        .default('127.0.0.1:7411'),
    );
}

/** Adds one whose question is looked for in the log, or in the read model's index where there is one. */
export const addIndexed = (program: Command, usage: string, description: string): Command =>
  addVerb(program, usage, description).addOption(
    new Option('--index <host:port>', 'where the read model is, which has an index for such questions').env(
      'IPLEDGER_INDEX',
    ),
  );

/** How an answer is to be printed. */
export const styleOf = ({ output, utc }: VerbOptions): Style => ({ output, zone: utc ? 'utc' : 'local' });

/** Runs with a channel to the allocator; Ctrl-C ends the asking, and aborts the signal. */
export async function withAllocator(
  options: VerbOptions,
  run: (allocator: Allocator, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const signal = untilInterrupted();
  using allocator = openAllocator(options.allocator, signal);
  await run(allocator, signal);
}

/** The same with one to the read model, where the options name it. */
export async function withIndex(
  options: IndexedOptions,
  run: (allocator: Allocator, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (!options.index) return withAllocator(options, run);
  const signal = untilInterrupted();
  using index = openIndex(options.index, signal);
  await run(index, signal);
}

/** Asks the allocator and prints the answer. */
export const answer = (
  options: VerbOptions,
  ask: (allocator: Allocator, signal: AbortSignal) => Promise<Answer>,
): Promise<void> =>
  withAllocator(options, async (allocator, signal) => print(styleOf(options), await ask(allocator, signal)));

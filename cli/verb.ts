/** What all verbs share: their options, a channel to the allocator while they run, and how their answer is printed. */
import { type Command, Option } from 'commander';
import { type Allocator, openAllocator } from './allocator.ts';
import { untilInterrupted } from './interrupt.ts';
import { type Answer, type OutputFormat, outputFormats, print } from './output.ts';

export interface VerbOptions {
  readonly allocator: string;
  readonly output: OutputFormat;
}

/** Adds a verb to the program with the options that every verb has. `usage` is its name and arguments. */
export function addVerb(program: Command, usage: string, description: string): Command {
  return program
    .command(usage)
    .description(description)
    .addOption(new Option('-o, --output <format>', 'how to print it').choices(outputFormats).default('table'))
    .addOption(
      new Option('--allocator <host:port>', 'where the allocator is; its replicas joined with commas')
        .env('IPLEDGER_ENDPOINT')
        .default('127.0.0.1:7411'),
    );
}

/** Asks the allocator and prints the answer; Ctrl-C ends the asking, and aborts the signal. */
export async function answer(
  options: VerbOptions,
  ask: (allocator: Allocator, signal: AbortSignal) => Promise<Answer>,
): Promise<void> {
  const signal = untilInterrupted();
  using allocator = openAllocator(options.allocator, signal);
  print(options.output, await ask(allocator, signal));
}

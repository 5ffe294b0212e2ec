/** The options and the confirmation of operator verbs, which change the ledger. */
import { type Command, InvalidArgumentError } from 'commander';
import { addVerbOptions, type VerbOptions } from './verb.ts';
import { createInterface } from 'node:readline/promises';
import { IpledgerError } from '../../lib/errors.ts';
import { asCalled } from '../called-as.ts';
import { CliError } from '../cli-error.ts';
import { escapeControlCharacters } from '../output/control-characters.ts';

export interface OperationOptions extends VerbOptions {
  readonly reason: string;
  readonly subnet?: string;
}

export interface DestructiveOptions extends OperationOptions {
  readonly yes: boolean;
}

/** Adds the options of a change. The event records the certificate's name and the reason. */
export const addOperationOptions = (verb: Command): Command =>
  addVerbOptions(verb)
    .requiredOption('--reason <text>', 'why; the ledger keeps it for good', parseReason)
    .option('--subnet <name>', 'the subnet of the address; needed if several subnets contain it');

function parseReason(reason: string): string {
  if (reason.trim() === '') throw new InvalidArgumentError('It is blank.');
  return reason;
}

/** Adds the options of a verb that ends something, and so requests confirmation. */
export const addDestructiveOptions = (verb: Command): Command =>
  addOperationOptions(verb).option('-y, --yes', 'do not request confirmation', false);

/** The operator's terminal. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** The stream of the question: stdout holds the answer only. */
  readonly output: NodeJS.WritableStream;
}

export interface Confirmation {
  /** The changes, one line each. */
  readonly lines: readonly string[];
  readonly question: string;
  /** `--yes` was given. */
  readonly yes: boolean;
}

/**
 * Resolves when the operator answers yes.
 * @throws CliError for another answer, and without a terminal; IpledgerError CANCELLED on Ctrl-C.
 */
export async function confirm(
  { lines: changes, question, yes }: Confirmation,
  signal: AbortSignal,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (yes) return;
  const lines = changes.map((change) => asCalled(escapeControlCharacters(change)));
  if (input.isTTY !== true)
    throw new CliError(
      'usage',
      `${lines.join('; ')}: nothing was changed, because there is no terminal for the confirmation: add --yes`,
    );
  output.write(`${lines.map((line) => `${line}\n`).join('')}${question} [y/N] `);
  const answer = await readLine(input, signal);
  if (signal.aborted) throw IpledgerError.from(signal.reason);
  if (!/^\s*y(es)?\s*$/i.test(answer ?? '')) throw new CliError('refused', 'nothing was changed');
}

/** Reads a line; undefined at the end. `terminal: false`: Ctrl-C still reaches this process. */
async function readLine(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string | undefined> {
  const reader = createInterface({ input, signal, terminal: false });
  try {
    for await (const line of reader) return line;
    return undefined;
  } finally {
    reader.close();
  }
}

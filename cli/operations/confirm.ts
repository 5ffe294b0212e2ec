/** Asks a person before something is taken away. */
import { createInterface } from 'node:readline/promises';
import { IpledgerError } from '../../lib/errors.ts';
import { Failure } from '../failure.ts';
import { printable } from '../printable.ts';

/** Where a person sits. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  /** Not stdout: that belongs to the answer. */
  readonly output: NodeJS.WritableStream;
}

export interface Confirmation {
  /** What will happen, whole lines. */
  readonly lines: readonly string[];
  readonly question: string;
  /** Whether `--yes` has answered it. */
  readonly yes: boolean;
}

/**
 * Resolves when the answer is yes.
 * @throws Failure when it is anything else, or nobody can be asked; IpledgerError CANCELLED on Ctrl-C.
 */
export async function confirm(
  { lines: said, question, yes }: Confirmation,
  signal: AbortSignal,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (yes) return;
  const lines = said.map(printable);
  const what = lines.join('; ');
  if (input.isTTY !== true)
    throw new Failure(
      'usage',
      `${what}: say --yes to go ahead, since there is no terminal to ask at; nothing was changed`,
    );
  output.write(`${lines.map((line) => `${line}\n`).join('')}${question} [y/N] `);
  const answer = await readLine(input, signal);
  if (signal.aborted) throw IpledgerError.from(signal.reason);
  if (!/^\s*y(es)?\s*$/i.test(answer ?? '')) throw new Failure('refused', 'nothing was changed');
}

/** Undefined at the end of the input. The terminal stays as it is, so that its Ctrl-C reaches this process. */
async function readLine(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<string | undefined> {
  const reader = createInterface({ input, signal, terminal: false });
  try {
    for await (const line of reader) return line;
    return undefined;
  } finally {
    reader.close();
  }
}

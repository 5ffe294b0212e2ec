/** The exit status and the message for an error that ends the program. */
import { IpledgerError } from '../../lib/errors.ts';
import { escapeControlCharacters } from '../output/control-characters.ts';
import { CliError, exitStatus } from '../cli-error.ts';

/** `line` goes to stderr. It is absent after Ctrl-C. */
export function explainError(thrown: unknown): { status: number; line?: string } {
  if (thrown instanceof CliError) return { status: thrown.exitStatus, line: `ipledger: ${oneLine(thrown.message)}` };
  if (thrown instanceof IpledgerError && thrown.code === 'CANCELLED') return { status: exitStatus.interrupted };
  if (thrown instanceof IpledgerError && thrown.kind !== 'bug')
    return { status: exitStatus.refused, line: `ipledger: ${oneLine(thrown.message)}` };
  return { status: exitStatus.refused, line: `ipledger: this is a bug: ${stackOf(thrown)}` };
}

const oneLine = (text: string): string => escapeControlCharacters(text.replaceAll(/\s*\n\s*/g, '; '));

const stackOf = (thrown: unknown): string => (thrown instanceof Error && thrown.stack) || String(thrown);

/** How the CLI ends when it can't do what it was asked: an exit status that scripts can use, and one line for a person. */
import { CommanderError } from 'commander';
import { IpledgerError } from '../lib/errors.ts';
import { printable } from './printable.ts';

export const exitStatus = {
  /** The ledger refused, or does not know what was asked for. */
  refused: 1,
  /** The command line or the environment makes no sense. */
  usage: 2,
  /** Asked and answered, and the answer is nothing: nobody had the address, no event matches, nothing changed. */
  nothing: 4,
  /** `check`: the ledger and the Kubernetes API do not agree. */
  disagreement: 1,
  /** `check`: nothing is known, since they could not be compared. */
  notCompared: 2,
  /** No allocator answered. */
  unreachable: 3,
  /** Ended by Ctrl-C, as shells say it. */
  interrupted: 130,
} as const;

/** What the CLI itself has to say; the ledger's own refusals are IpledgerErrors. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitStatus: number;

  constructor(status: keyof typeof exitStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitStatus = exitStatus[status];
  }
}

/** The exit status and the line for whatever was thrown; no line where commander has said it already. */
export function explain(thrown: unknown): { status: number; line?: string } {
  if (thrown instanceof CommanderError) return { status: thrown.exitCode === 0 ? 0 : exitStatus.usage };
  if (thrown instanceof Failure) return { status: thrown.exitStatus, line: `ipledger: ${oneLine(thrown.message)}` };
  if (thrown instanceof IpledgerError && thrown.code === 'CANCELLED') return { status: exitStatus.interrupted };
  if (thrown instanceof IpledgerError && thrown.kind !== 'bug')
    return { status: exitStatus.refused, line: `ipledger: ${oneLine(thrown.message)}` };
  return { status: exitStatus.refused, line: `ipledger: this is a bug: ${stackOf(thrown)}` };
}

const oneLine = (text: string): string => printable(text.replaceAll(/\s*\n\s*/g, '; '));

const stackOf = (thrown: unknown): string => (thrown instanceof Error && thrown.stack) || String(thrown);

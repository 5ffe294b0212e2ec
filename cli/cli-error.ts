/** Errors of the CLI itself, and its exit statuses. Errors of the allocator are IpledgerErrors. */
import { errorMessage } from '../lib/errors.ts';

export const exitStatus = {
  /** The allocator rejected the request, or has no record of its subject. */
  refused: 1,
  /** The command line or the environment is invalid. */
  usage: 2,
  /** The answer is empty: no Pod had the address, no event matches, nothing changed. */
  empty: 4,
  /** `doctor`, `check` and `verify`: something is wrong with the ledger or the cluster. */
  disagreement: 1,
  /** `check` and `verify`: there is no result; `doctor` and `sysdump`: a part is missing. */
  notCompared: 2,
  /** No allocator answered. */
  unreachable: 3,
  /** Ended by Ctrl-C: 128 + SIGINT, as in shells. */
  interrupted: 130,
} as const;

/** Ends the program with an exit status and one line on stderr. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitStatus: number;

  constructor(status: keyof typeof exitStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitStatus = exitStatus[status];
  }
}

/** Settings of the operator that are invalid are errors of usage. @throws CliError */
export function throwUsageError(error: unknown): never {
  throw error instanceof CliError ? error : new CliError('usage', errorMessage(error), { cause: error });
}

/** Does what fails only for settings that are invalid. @throws CliError */
export function orUsageError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    return throwUsageError(error);
  }
}

/** Errors of the CLI itself. Errors of the allocator are IpledgerErrors. */
import { exitStatus } from './exit-status.ts';

/** Ends the program with an exit status and one line on stderr. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitStatus: number;

  constructor(status: keyof typeof exitStatus, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitStatus = exitStatus[status];
  }
}

/**
 * What goes on while the ledger is frozen, because somebody remembers more of it than it holds. What containers do goes on; but no
 * Pod is given an address, and nothing is taken from anybody, unless by an operator who has seen what is missing: by imports, and
 * by releases in their own name.
 */
import type { Command } from './command.ts';

/** Whether a command may be carried out then. */
export function goesOnWhileFrozen(command: Command): boolean {
  switch (command.type) {
    case 'CreateLedger':
    case 'RestoreLedger':
    case 'ApplySubnet':
    case 'ApplyPool':
    case 'Reserve':
    case 'Quarantine':
    case 'Bind':
    case 'Unbind':
      return true;
    case 'Allocate':
      return command.import === true;
    case 'Release':
      return command.cause === 'operator';
    default:
      return false;
  }
}

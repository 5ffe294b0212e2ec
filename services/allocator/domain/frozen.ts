/**
 * What goes on while the ledger is frozen, because somebody remembers more of it than it holds: nothing that gives an address to a
 * Pod, or takes away what somebody holds; what containers do goes on. Only a person does that then, who has seen what is missing: by imports, and by
 * releases in their own name.
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

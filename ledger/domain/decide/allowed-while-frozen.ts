/**
 * The commands that a frozen ledger accepts. A ledger is frozen while it lacks events that a client or a checkpoint has seen.
 *
 * Binds and unbinds continue. Allocations and releases do not, except imports and releases by an operator, who repairs the
 * ledger.
 */
import type { Command } from '../commands/command.ts';

/** Whether a command may be decided while the ledger is frozen. */
export function isCommandAllowedWhileFrozen(command: Command): boolean {
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

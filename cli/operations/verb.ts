/** What the verbs share that change the ledger: they say why, and what they take away they ask about first. */
import { type Command, InvalidArgumentError } from 'commander';
import { addVerb, type VerbOptions } from '../verb.ts';

export interface OperationOptions extends VerbOptions {
  readonly reason: string;
  readonly subnet?: string;
}

export interface DestructiveOptions extends OperationOptions {
  readonly yes: boolean;
}

/** Adds a verb that changes the ledger. The event names who did it, by the certificate, and why. */
export function addOperation(program: Command, usage: string, description: string): Command {
  return addVerb(program, usage, description)
    .requiredOption('--reason <text>', 'why; it stays in the ledger for good', notBlank)
    .option('--subnet <name>', 'in this subnet; needed where several have the address');
}

function notBlank(reason: string): string {
  if (reason.trim() === '') throw new InvalidArgumentError('It says nothing.');
  return reason;
}

/** Adds one that takes something away. */
export function addDestructive(program: Command, usage: string, description: string): Command {
  return addOperation(program, usage, description).option('-y, --yes', 'do it without asking', false);
}

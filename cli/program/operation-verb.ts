/** The options of operator verbs: verbs that change the ledger. */
import { type Command, InvalidArgumentError } from 'commander';
import { addVerbOptions, type VerbOptions } from './verb.ts';

export interface OperationOptions extends VerbOptions {
  readonly reason: string;
  readonly subnet?: string;
}

export interface DestructiveOptions extends OperationOptions {
  readonly yes: boolean;
}

/** Adds the options of a verb that changes the ledger. The event records the certificate's name and the reason. */
export const addOperationOptions = (verb: Command): Command =>
  addVerbOptions(verb)
    .requiredOption('--reason <text>', 'why; the ledger keeps it for good', parseReason)
    .option('--subnet <name>', 'the subnet of the address; needed if several subnets contain it');

function parseReason(reason: string): string {
  if (reason.trim() === '') throw new InvalidArgumentError('It is blank.');
  return reason;
}

/** Adds the options of a verb that ends an allocation, a reservation or a quarantine, and so requests confirmation. */
export const addDestructiveOptions = (verb: Command): Command =>
  addOperationOptions(verb).option('-y, --yes', 'do not request confirmation', false);

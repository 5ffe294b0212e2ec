/** The options that programs share, and parsers for the values of options. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { version } from './version.ts';

/** Parses the command line of a program. Prints the error and exits if an option is invalid. */
export function parseOptions(name: string, description: string, options: readonly Option[]): Command {
  const program = new Command(name).description(description).version(version);
  for (const option of options) program.addOption(option);
  return program.parse();
}

export const allocatorOption = (): Option =>
  new Option('--allocator <host:port>', 'address of the allocator; several replicas separated by commas')
    .env('IPLEDGER_ENDPOINT')
    .makeOptionMandatory();

/** @param listen the default; "" for none */
export const healthListenOption = (listen = ''): Option =>
  new Option(
    '--health-listen <host:port>',
    'addresses of HTTP /livez, /readyz and /metrics, separated by commas; none if empty',
  )
    .env('IPLEDGER_HEALTH_LISTEN')
    .default(listen);

export const namespaceOption = (description: string): Option =>
  new Option('--namespace <name>', description).env('IPLEDGER_NAMESPACE').default('kube-system');

/** Parses a whole number from `min` to `max`. @throws InvalidArgumentError */
export function parseWholeNumber(text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max)
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  return number;
}

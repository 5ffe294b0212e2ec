/** Parsers for the values of command-line flags. */
import { InvalidArgumentError } from 'commander';

/** Parses a whole number from `min` to `max`. @throws InvalidArgumentError */
export function parseWholeNumber(text: string, min: number, max: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < min || number > max)
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  return number;
}

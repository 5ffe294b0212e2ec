/**
 * The corpus of a target: the file corpus/<name>.inputs, one input per line. A line is a JSON text
 * with a character for each byte. It has inputs that once failed, and some that reach rare errors.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FuzzTarget } from './fuzz-target.ts';

const fileOf = ({ name }: Pick<FuzzTarget, 'name'>): string => join(import.meta.dirname, 'corpus', `${name}.inputs`);

export function readCorpus(target: Pick<FuzzTarget, 'name'>): Buffer[] {
  const file = fileOf(target);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => Buffer.from(JSON.parse(line) as string, 'latin1'));
}

/** Adds an input. @returns its line, from 1 */
export function addToCorpus(target: Pick<FuzzTarget, 'name'>, input: Uint8Array): number {
  const file = fileOf(target);
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(Buffer.from(input).toString('latin1'))}\n`);
  return readCorpus(target).length;
}

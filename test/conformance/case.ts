/**
 * One case: what is given, what happens, what must be seen. The file is a list of them; what the three parts may hold depends
 * on the area, and whatever is not understood makes the case one that cannot be executed, never one that passes.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { type Fields, type Json } from './json.ts';

const json: z.ZodType<Json> = z.json();
const fields: z.ZodType<Fields> = z.record(z.string(), json);

const caseShape = z.object({
  id: z.string().min(1),
  area: z.string().min(1),
  given: fields,
  when: fields,
  expect: fields,
  source: z.string().default(''),
  /**
   * `must` stands as it is. Of `quirk`, `docs` and `superseded` the note, or deviations.json, says what is expected instead of
   * what Kube-OVN does.
   */
  compat: z.string().default('must'),
  note: z.string().optional(),
});

export type Case = z.infer<typeof caseShape>;

/** A case cannot be executed; the message says why, for a person who would like it to be. */
export class CannotExecute extends Error {
  override readonly name = 'CannotExecute';
}

/** The case says something that nobody has taught us to read. */
export const notUnderstood = (what: string, said: Json | undefined): CannotExecute =>
  new CannotExecute(`${what} ${JSON.stringify(said)}: not understood`);

/** Reads a case file. @throws Error that says what is wrong with it. */
export function readCases(file: string): Case[] {
  const parsed = z.array(caseShape).safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
  const seen = new Set<string>();
  for (const { id } of parsed.data) {
    if (seen.has(id)) throw new Error(`${file}: two cases are called ${id}`);
    seen.add(id);
  }
  return parsed.data;
}

/** Refuses what is not understood: a condition or an expectation that is passed over would make a case pass for nothing. */
export function understandOnly(what: string, value: Fields, known: readonly string[]): void {
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  if (unknown.length > 0)
    throw new CannotExecute(`${what} ${unknown.map((key) => JSON.stringify(key)).join(', ')}: not understood`);
}

/**
 * Cases: `given`, `when` and `expect`, whose keys depend on the area. A case with an unknown key or
 * sentence is unsupported: it never passes.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { type Fields, type Json } from '../harness/json.ts';

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
   * `must`: ipledger behaves like Kube-OVN. `quirk`, `docs` and `superseded`: the note or
   * deviations.json has another expectation.
   */
  compat: z.string().default('must'),
  note: z.string().optional(),
});

export type Case = z.infer<typeof caseShape>;

/** Means that the runner does not support a case, with the reason. */
export class UnsupportedCaseError extends Error {
  override readonly name = 'UnsupportedCaseError';
}

/** Makes the error of a key or value that the runner does not support. */
export const unsupportedError = (part: string, value: Json | undefined): UnsupportedCaseError =>
  new UnsupportedCaseError(`${part} ${JSON.stringify(value)}: unsupported`);

/** Reads a case file. @throws Error with the problems of the file */
export function readCases(file: string): Case[] {
  const parsed = z.array(caseShape).safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (!parsed.success) throw new Error(`${file}: ${z.prettifyError(parsed.error)}`);
  const ids = new Set<string>();
  for (const { id } of parsed.data) {
    if (ids.has(id)) throw new Error(`${file}: two cases have the id ${id}`);
    ids.add(id);
  }
  return parsed.data;
}

/**
 * Rejects unknown keys: an ignored condition or expectation could let a case pass.
 * @throws UnsupportedCaseError
 */
export function rejectUnknownKeys(part: string, value: Fields, known: readonly string[]): void {
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  if (unknown.length > 0)
    throw new UnsupportedCaseError(`${part} ${unknown.map((key) => JSON.stringify(key)).join(', ')}: unsupported`);
}

/**
 * Where we decided otherwise than Kube-OVN: deviations.json, a reviewed list, by behaviour. Each entry says of which areas it
 * is, under which condition on the case, what is expected instead, and why. No entry knows a case by its id.
 *
 * A condition is matched against the case:
 *   {…}                  these fields match
 *   "/…/"                a text that matches; what its named groups catch can be used in `ours` as "$<name>"
 *   {"$some": …}         one element of a list, or one field of an object, matches
 *   {"$entry": {…}}      one field matches by `key` and `value`
 *   {"$is": "…"}         a predicate of predicates below
 * `ours` replaces the whole expectation, or names a reckoning that makes it: {"$reckoned": "…"}.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Case } from './case.ts';
import { type Fields, fieldsOf, isFields, isList, type Json, jsonOf, textOf } from './json.ts';
import { predicates, reckonings } from './reckon.ts';

const json: z.ZodType<Json> = z.json();

const deviationShape = z.strictObject({
  behaviour: z.string().min(1),
  areas: z.array(z.string()).min(1),
  condition: z.record(z.string(), json),
  ours: z.record(z.string(), json),
  why: z.string().min(1),
});

export type Deviation = z.infer<typeof deviationShape>;

/** The reviewed list. */
export const deviations: readonly Deviation[] = z
  .array(deviationShape)
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'deviations.json'), 'utf8')));

export interface Wanted {
  /** What must be seen. */
  readonly expect: Fields;
  /** The behaviour of the deviation that says so; undefined where the case itself does. */
  readonly deviation: string | undefined;
}

/** What is expected of a case: as it says itself, unless an entry of the list is about it. Of several, the first holds. */
export function wantedOf(the: Case, list: readonly Deviation[] = deviations): Wanted {
  for (const { areas, condition, ours, behaviour } of list) {
    if (!areas.includes(the.area)) continue;
    const caught = new Map<string, string>();
    if (!matches(condition, jsonOf(the), the, caught)) continue;
    const named = textOf(ours['$reckoned']);
    const reckoning = reckonings[named];
    if (named !== '' && !reckoning) throw new Error(`deviations.json: there is no reckoning ${JSON.stringify(named)}`);
    return { expect: reckoning ? reckoning(the) : fieldsOf(filledIn(ours, caught)), deviation: behaviour };
  }
  return { expect: recommended(the.expect), deviation: undefined };
}

/** A case that says itself what would be better than Kube-OVN's behaviour is held to that. */
function recommended(expect: Fields): Fields {
  const { 'kube-ovn': kubeOvn, recommended: better, ...rest } = expect;
  if (isFields(better)) return { ...rest, ...better };
  if (better !== undefined) return { ...rest, recommended: better };
  return rest['wanted'] === undefined && kubeOvn !== undefined ? expect : rest;
}

function matches(pattern: Json, value: Json | undefined, the: Case, caught: Map<string, string>): boolean {
  const inner = (each: Json, part: Json | undefined): boolean => matches(each, part, the, caught);
  if (typeof pattern === 'string' && pattern.startsWith('/')) return matchesText(pattern, value, caught);
  if (isList(pattern))
    return (
      isList(value) && value.length === pattern.length && pattern.every((each, index) => inner(each, value[index]))
    );
  if (!isFields(pattern)) return pattern === value;
  return Object.entries(pattern).every(([key, wanted]) => {
    if (key === '$is') return predicateOf(textOf(wanted))(the);
    if (key === '$some')
      return (isList(value) ? value : Object.values(fieldsOf(value))).some((each) => inner(wanted, each));
    if (key === '$entry') {
      const { key: ofKey = {}, value: ofValue = {} } = fieldsOf(wanted);
      return Object.entries(fieldsOf(value)).some(([name, each]) => inner(ofKey, name) && inner(ofValue, each));
    }
    return isFields(value) && inner(wanted, value[key]);
  });
}

function matchesText(pattern: string, value: Json | undefined, caught: Map<string, string>): boolean {
  const found = typeof value === 'string' ? new RegExp(pattern.slice(1, -1)).exec(value) : null;
  for (const [name, text] of Object.entries(found?.groups ?? {})) caught.set(name, text);
  return found !== null;
}

function predicateOf(name: string): (the: Case) => boolean {
  const predicate = predicates[name];
  if (!predicate) throw new Error(`deviations.json: there is no predicate ${JSON.stringify(name)}`);
  return predicate;
}

function filledIn(ours: Json, caught: ReadonlyMap<string, string>): Json {
  if (typeof ours === 'string') return ours.replaceAll(/\$<(\w+)>/g, (_, name: string) => caught.get(name) ?? '');
  if (isList(ours)) return ours.map((each) => filledIn(each, caught));
  if (!isFields(ours)) return ours;
  return Object.fromEntries(Object.entries(ours).map(([key, value]) => [key, filledIn(value, caught)]));
}

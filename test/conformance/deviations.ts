/**
 * Reviewed deviations from Kube-OVN's behaviour: deviations.json. Each entry has the areas, a
 * condition on the case, the expectation, and the reason. No entry depends on the id of a case.
 *
 * Forms of a condition:
 *   {…}                  these fields match
 *   "/…/"                a text that matches; `ours` may use its named groups as "$<name>"
 *   {"$some": …}         one element of a list, or one field of an object, matches
 *   {"$entry": {…}}      one field matches by `key` and `value`
 *   {"$is": "…"}         a predicate of deviation-rules.ts
 * `ours` replaces the expectation, or names a function of deviation-rules.ts that computes it:
 * {"$computed": "…"}.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Case } from './case.ts';
import { type Fields, fieldsOf, isFields, isList, type Json, jsonOf, textOf } from '../harness/json.ts';
import { predicates, computedExpectations } from './deviation-rules.ts';

const json: z.ZodType<Json> = z.json();

const deviationShape = z.strictObject({
  behaviour: z.string().min(1),
  areas: z.array(z.string()).min(1),
  condition: z.record(z.string(), json),
  ours: z.record(z.string(), json),
  why: z.string().min(1),
});

export type Deviation = z.infer<typeof deviationShape>;

/** The entries of deviations.json. */
export const deviations: readonly Deviation[] = z
  .array(deviationShape)
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'deviations.json'), 'utf8')));

export interface Expectation {
  readonly expect: Fields;
  /** The behaviour of the deviation that applies; undefined if none does. */
  readonly deviation: string | undefined;
}

/**
 * Returns the expectation of a case: that of the first deviation that applies, else the case's own.
 */
export function expectationOf(testCase: Case, list: readonly Deviation[] = deviations): Expectation {
  for (const { areas, condition, ours, behaviour } of list) {
    if (!areas.includes(testCase.area)) continue;
    const groups = new Map<string, string>();
    if (!matches(condition, jsonOf(testCase), testCase, groups)) continue;
    const name = textOf(ours['$computed']);
    const compute = computedExpectations[name];
    if (name !== '' && !compute) throw new Error(`deviations.json: unknown $computed ${JSON.stringify(name)}`);
    return { expect: compute ? compute(testCase) : fieldsOf(replaceGroups(ours, groups)), deviation: behaviour };
  }
  return { expect: recommended(testCase.expect), deviation: undefined };
}

/** Returns the recommendation of a case, which replaces Kube-OVN's behaviour. */
function recommended(expect: Fields): Fields {
  const { 'kube-ovn': kubeOvn, recommended: recommendation, ...rest } = expect;
  if (isFields(recommendation)) return { ...rest, ...recommendation };
  if (recommendation !== undefined) return { ...rest, recommended: recommendation };
  return rest['wanted'] === undefined && kubeOvn !== undefined ? expect : rest;
}

function matches(pattern: Json, value: Json | undefined, testCase: Case, groups: Map<string, string>): boolean {
  const inner = (each: Json, part: Json | undefined): boolean => matches(each, part, testCase, groups);
  if (typeof pattern === 'string' && pattern.startsWith('/')) return matchesText(pattern, value, groups);
  if (isList(pattern))
    return (
      isList(value) && value.length === pattern.length && pattern.every((each, index) => inner(each, value[index]))
    );
  if (!isFields(pattern)) return pattern === value;
  return Object.entries(pattern).every(([key, expected]) => {
    if (key === '$is') return predicateOf(textOf(expected))(testCase);
    if (key === '$some')
      return (isList(value) ? value : Object.values(fieldsOf(value))).some((each) => inner(expected, each));
    if (key === '$entry') {
      const { key: ofKey = {}, value: ofValue = {} } = fieldsOf(expected);
      return Object.entries(fieldsOf(value)).some(([name, each]) => inner(ofKey, name) && inner(ofValue, each));
    }
    return isFields(value) && inner(expected, value[key]);
  });
}

function matchesText(pattern: string, value: Json | undefined, groups: Map<string, string>): boolean {
  const match = typeof value === 'string' ? new RegExp(pattern.slice(1, -1)).exec(value) : null;
  for (const [name, text] of Object.entries(match?.groups ?? {})) groups.set(name, text);
  return match !== null;
}

function predicateOf(name: string): (testCase: Case) => boolean {
  const predicate = predicates[name];
  if (!predicate) throw new Error(`deviations.json: unknown $is ${JSON.stringify(name)}`);
  return predicate;
}

function replaceGroups(ours: Json, groups: ReadonlyMap<string, string>): Json {
  if (typeof ours === 'string') return ours.replaceAll(/\$<(\w+)>/g, (_, name: string) => groups.get(name) ?? '');
  if (isList(ours)) return ours.map((each) => replaceGroups(each, groups));
  if (!isFields(ours)) return ours;
  return Object.fromEntries(Object.entries(ours).map(([key, value]) => [key, replaceGroups(value, groups)]));
}

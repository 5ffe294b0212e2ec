/**
 * Compares expectations with results. Forms of an expectation:
 *
 *   {…}                            an object that has these fields, and maybe others
 *   […]                            a list of exactly these elements
 *   null, "absent"                 absent
 *   "*"                            any text but ''
 *   {"regex": "…"}                 a text that matches
 *   error: "…", errorContains: …   an `error` that contains it; a list means: any of these
 *   errorMatches: "…"              an `error` that the regular expression matches
 *   error: true                    any error
 *
 * An error that is not expected is a difference.
 */
import { type Fields, isFields, isList, type Json, formatJson, textOf } from '../harness/json.ts';

/** The expectation and the result of a case, in the same form. */
export interface Comparison {
  readonly expected: Json;
  readonly got: Json;
}

export interface Difference {
  /** The place of the difference, for example "results[1].v4"; '' for the root. */
  readonly path: string;
  readonly expected: Json | undefined;
  readonly got: Json | undefined;
}

const errorKeys = ['error', 'errorContains', 'errorMatches'] as const;

/** Returns all differences. */
export function findDifferences(expected: Json, got: Json | undefined, at = ''): Difference[] {
  const different: Difference[] = [{ path: at, expected, got }];
  if (expected === null || expected === 'absent') return got === undefined || got === null ? [] : different;
  if (expected === '*') return textOf(got) === '' ? different : [];
  if (typeof expected === 'number') return sameNumber(expected, got) ? [] : different;
  if (isList(expected)) {
    if (!isList(got) || got.length !== expected.length) return different;
    return expected.flatMap((each, index) => findDifferences(each, got[index], `${at}[${index}]`));
  }
  if (!isFields(expected)) return expected === got ? [] : different;
  if (typeof expected['regex'] === 'string')
    return typeof got === 'string' && new RegExp(expected['regex']).test(got) ? [] : different;
  return isFields(got) ? findFieldDifferences(expected, got, at) : different;
}

function findFieldDifferences(expected: Fields, got: Fields, at: string): Difference[] {
  const pathOf = (key: string): string => (at === '' ? key : `${at}.${key}`);
  const found = Object.entries(expected)
    .filter(([key]) => !errorKeys.some((known) => known === key))
    .flatMap(([key, value]) => findDifferences(value, got[key], pathOf(key)));
  const error = got['error'];
  const hasError = textOf(error) !== '' || error === true;
  const expectsError = errorKeys.some((key) => expected[key] !== undefined && !isNone(expected[key]));
  // An expected denial may have any error.
  const expectsDenial = expected['valid'] === false || expected['denied'] === true;
  if (hasError && !expectsError && !expectsDenial)
    found.push({ path: pathOf('error'), expected: undefined, got: error });
  for (const key of errorKeys) {
    const pattern = expected[key];
    if (pattern !== undefined && !isNone(pattern) && !matchesError(key, pattern, error))
      found.push({ path: pathOf(key), expected: pattern, got: error });
  }
  return found;
}

const isNone = (pattern: Json | undefined): boolean =>
  pattern === null || pattern === false || pattern === '' || pattern === 'absent';

function matchesError(key: (typeof errorKeys)[number], pattern: Json, error: Json | undefined): boolean {
  if (pattern === true) return textOf(error) !== '' || error === true;
  const message = textOf(error);
  const patterns = isList(pattern) ? pattern.map(textOf) : [textOf(pattern)];
  return patterns.some(
    (text) => text !== '' && (key === 'errorMatches' ? new RegExp(text).test(message) : message.includes(text)),
  );
}

/** Compares a number, which may be a text in the result: large counts are text. */
function sameNumber(expected: number, got: Json | undefined): boolean {
  return typeof got === 'number' ? got === expected : typeof got === 'string' && got === String(expected);
}

/** Formats both sides of the differences, each in one line. */
export function describeDifferences(found: readonly Difference[]): { readonly expected: string; readonly got: string } {
  const side = (pick: 'expected' | 'got'): string =>
    found.map((each) => `${each.path === '' ? '' : `${each.path} `}${formatJson(each[pick])}`).join('; ');
  return { expected: side('expected'), got: side('got') };
}

/**
 * What was expected against what was seen. An expectation names what must be so and leaves the rest open:
 *
 *   {…}                            an object that has these fields, whatever else it has
 *   […]                            a list of exactly these elements
 *   null, "absent"                 nothing there
 *   "*"                            any text but ''
 *   {"regex": "…"}                 a text that matches
 *   error: "…", errorContains: …   an `error` that contains it; a list means: any of these
 *   errorMatches: "…"              an `error` that the regular expression matches
 *   error: true                    any error
 *
 * Where no error is expected, none may be there.
 */
import { type Fields, isFields, isList, type Json, shown, textOf } from './json.ts';

/** What a case came to: both sides in the same words, ready to be compared. */
export interface Seen {
  readonly expected: Json;
  readonly got: Json;
}

export interface Difference {
  /** Where, as "results[1].v4"; '' for the whole. */
  readonly at: string;
  readonly expected: Json | undefined;
  readonly got: Json | undefined;
}

const errorKeys = ['error', 'errorContains', 'errorMatches'] as const;

/** Everything that is not as expected; empty when all is. */
export function differences(expected: Json, got: Json | undefined, at = ''): Difference[] {
  const different: Difference[] = [{ at, expected, got }];
  if (expected === null || expected === 'absent') return got === undefined || got === null ? [] : different;
  if (expected === '*') return textOf(got) === '' ? different : [];
  if (typeof expected === 'number') return sameNumber(expected, got) ? [] : different;
  if (isList(expected)) {
    if (!isList(got) || got.length !== expected.length) return different;
    return expected.flatMap((each, index) => differences(each, got[index], `${at}[${index}]`));
  }
  if (!isFields(expected)) return expected === got ? [] : different;
  if (typeof expected['regex'] === 'string')
    return typeof got === 'string' && new RegExp(expected['regex']).test(got) ? [] : different;
  return isFields(got) ? ofFields(expected, got, at) : different;
}

function ofFields(expected: Fields, got: Fields, at: string): Difference[] {
  const inside = (key: string): string => (at === '' ? key : `${at}.${key}`);
  const found = Object.entries(expected)
    .filter(([key]) => !errorKeys.some((known) => known === key))
    .flatMap(([key, value]) => differences(value, got[key], inside(key)));
  const error = got['error'];
  const there = textOf(error) !== '' || error === true;
  const expectsOne = errorKeys.some((key) => expected[key] !== undefined && !isNone(expected[key]));
  // Who expects a refusal need not quote it.
  const expectsRefusal = expected['valid'] === false || expected['denied'] === true;
  if (there && !expectsOne && !expectsRefusal) found.push({ at: inside('error'), expected: undefined, got: error });
  for (const key of errorKeys) {
    const wanted = expected[key];
    if (wanted !== undefined && !isNone(wanted) && !saysError(key, wanted, error))
      found.push({ at: inside(key), expected: wanted, got: error });
  }
  return found;
}

const isNone = (wanted: Json | undefined): boolean =>
  wanted === null || wanted === false || wanted === '' || wanted === 'absent';

function saysError(key: (typeof errorKeys)[number], wanted: Json, error: Json | undefined): boolean {
  if (wanted === true) return textOf(error) !== '' || error === true;
  const said = textOf(error);
  const any = isList(wanted) ? wanted.map(textOf) : [textOf(wanted)];
  return any.some(
    (text) => text !== '' && (key === 'errorMatches' ? new RegExp(text).test(said) : said.includes(text)),
  );
}

/** Counts of addresses are text where they may be too large for a number. */
function sameNumber(expected: number, got: Json | undefined): boolean {
  return typeof got === 'number' ? got === expected : typeof got === 'string' && got === String(expected);
}

/** The differences as one line for people: what was expected, and what was seen instead. */
export function describe(found: readonly Difference[]): { readonly expected: string; readonly got: string } {
  const side = (pick: 'expected' | 'got'): string =>
    found.map((each) => `${each.at === '' ? '' : `${each.at} `}${shown(each[pick])}`).join('; ');
  return { expected: side('expected'), got: side('got') };
}

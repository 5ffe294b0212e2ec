/** Expectations with one thing in them altered, so that what was true is not any more. */
import { CannotExecute } from './case.ts';
import { type Fields, isFields, isList, type Json } from './json.ts';
import { fateIn } from './areas/words.ts';

/** Each way to alter one leaf. */
export function alterations(expect: Fields): Fields[] {
  return Object.entries(expect).flatMap(([key, value]) => altered(value).map((other) => ({ ...expect, [key]: other })));
}

function altered(value: Json): Json[] {
  if (value === null) return ['altered'];
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'string') return [alteredText(value)];
  if (isList(value))
    return value.length === 0
      ? [['altered']]
      : value.flatMap((each, index) => altered(each).map((other) => value.with(index, other)));
  if (!isFields(value)) return [];
  return Object.keys(value).length === 0 ? [{ error: 'altered' }] : alterations(value);
}

/** What becomes of an address is altered into the other thing that may become of it. */
function alteredText(text: string): string {
  try {
    return fateIn(text) === 'kept' ? 'released' : 'kept';
  } catch (error) {
    if (error instanceof CannotExecute) return `altered ${text}`;
    throw error;
  }
}

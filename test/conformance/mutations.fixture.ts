/** Mutates expectations: each mutation changes one value, so that a case that passes must fail. */
import { UnsupportedCaseError } from './case.ts';
import { type Fields, isFields, isList, type Json } from '../harness/json.ts';
import { parseFate } from './areas/fate.ts';

/** Returns all mutations of an expectation. */
export function mutateExpectation(expect: Fields): Fields[] {
  return Object.entries(expect).flatMap(([key, value]) =>
    mutateValue(value).map((other) => ({ ...expect, [key]: other })),
  );
}

function mutateValue(value: Json): Json[] {
  if (value === null) return ['mutated'];
  if (typeof value === 'boolean') return [!value];
  if (typeof value === 'number') return [value + 1];
  if (typeof value === 'string') return [mutateText(value)];
  if (isList(value))
    return value.length === 0
      ? [['mutated']]
      : value.flatMap((each, index) => mutateValue(each).map((other) => value.with(index, other)));
  if (!isFields(value)) return [];
  return Object.keys(value).length === 0 ? [{ error: 'mutated' }] : mutateExpectation(value);
}

/** Changes a fate to the other fate, and any other text to a different text. */
function mutateText(text: string): string {
  try {
    return parseFate(text) === 'kept' ? 'released' : 'kept';
  } catch (error) {
    if (error instanceof UnsupportedCaseError) return `mutated ${text}`;
    throw error;
  }
}

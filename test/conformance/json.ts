/** JSON as it stands in a case file, and how it is looked into. */

export type Json = null | boolean | number | string | readonly Json[] | Fields;

export interface Fields {
  readonly [key: string]: Json;
}

export const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** The value if it is an object, else an empty one. */
export const fieldsOf = (value: Json | undefined): Fields => (isFields(value) ? value : {});

/** The value if it is a list, else an empty one. */
export const listOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);

/** The value if it is text, else ''. */
export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Whether it is a text that begins so. */
export const says = (value: Json | undefined, beginning: string): boolean => textOf(value).startsWith(beginning);

/** The texts of a list; what is none is left out. */
export const textsOf = (value: Json | undefined): string[] => listOf(value).filter((each) => typeof each === 'string');

/** The texts of an object's fields; what is none is left out. */
export const textFieldsOf = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** Plain data as JSON: what `JSON.stringify` makes of it. */
export const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null') as Json;

/** On one line, for people. */
export const shown = (value: Json | undefined): string => JSON.stringify(value) ?? 'nothing';

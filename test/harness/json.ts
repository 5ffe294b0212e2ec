/** JSON values of case files, and functions that read them. */

export type Json = null | boolean | number | string | readonly Json[] | Fields;

export interface Fields {
  readonly [key: string]: Json;
}

export const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** Returns the value if it is an object, else an empty object. */
export const fieldsOf = (value: Json | undefined): Fields => (isFields(value) ? value : {});

/** Returns the value if it is a list, else an empty list. */
export const listOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);

/** Returns the value if it is text, else ''. */
export const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** Whether the value is a text with this prefix. */
export const hasPrefix = (value: Json | undefined, prefix: string): boolean => textOf(value).startsWith(prefix);

/** Returns the texts of a list; other values are ignored. */
export const textsOf = (value: Json | undefined): string[] => listOf(value).filter((each) => typeof each === 'string');

/** Returns the text fields of an object; other fields are ignored. */
export const textFieldsOf = (value: Json | undefined): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** Converts plain data to JSON. */
export const jsonOf = (value: unknown): Json => JSON.parse(JSON.stringify(value) ?? 'null') as Json;

/** Formats a value on one line. */
export const formatJson = (value: Json | undefined): string => JSON.stringify(value) ?? 'nothing';

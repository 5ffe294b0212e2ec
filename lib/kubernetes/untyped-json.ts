/** Reads JSON of unknown structure. A value of an unexpected type reads as empty. */

export type UntypedJson = Readonly<Record<string, unknown>>;

/** Shared by all objects that lack a field. */
const empty: UntypedJson = Object.freeze({});

/** Returns an object; {} for any other value. */
export function asRecord(value: unknown): UntypedJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as UntypedJson) : empty;
}

/** Returns the elements of a list as objects; [] for any other value. */
export const asRecords = (value: unknown): UntypedJson[] => (Array.isArray(value) ? value.map(asRecord) : []);

/** Returns a text; "" for any other value. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Parses JSON; undefined if it is invalid. */
export function tryParseJson(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}

/** JSON of a parsed value; undefined if it has too many levels. The API server accepts 10,000. */
export function tryFormatJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value ?? null);
  } catch {
    return undefined;
  }
}

/** Returns a finite number; undefined for any other value. */
export function asNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Returns the non-empty texts of a list, without other values. */
export function asTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(asText).filter((each) => each !== '') : [];
}

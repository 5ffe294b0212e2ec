/** Reads an object's spec. A field over its limit counts as absent and is recorded as a problem. */
import { type UntypedJson, asText, asTexts, tryFormatJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { truncate, textLimits, tooLong, tooMany } from '../../limits.ts';

/** The maximum number of entries of a list, and their unit for messages. */
interface ListLimit {
  readonly most: number;
  readonly unit: string;
}

/** Replaces an unreadable text where an absent text would grant access. No object has this name. */
export const unreadable = '(unreadable)';

export class SpecReader {
  /** The problems, each as one sentence. */
  readonly problems: string[] = [];
  readonly #spec: UntypedJson;

  constructor(spec: UntypedJson) {
    this.#spec = spec;
  }

  /** Reads a text; a value of another type counts as absent. */
  text(key: string, maxLength: number): string {
    const value = asText(this.#spec[key]);
    return this.#isWithin(tooLong(`spec.${key}`, value, maxLength)) ? value : '';
  }

  /** Reads a text. A value of another type is a problem. */
  strictText(key: string, maxLength: number): string {
    const value = this.#spec[key] ?? '';
    if (typeof value !== 'string') this.problems.push(`spec.${key} must be a text, and is ${quoted(value)}`);
    return this.text(key, maxLength);
  }

  /** Reads a text that restricts access: an absent text grants more than `unreadable`. */
  closedText(key: string, maxLength: number): string {
    const problemsBefore = this.problems.length;
    const value = this.strictText(key, maxLength);
    return this.problems.length > problemsBefore ? unreadable : value;
  }

  /** Reads a list of names. An empty name is a problem: no name could mean no restriction. */
  names(key: string, most: number): string[] {
    const all = this.strictList(key, { most, unit: 'names' });
    if (all.includes('')) this.problems.push(`spec.${key} has an empty entry: remove it, or name a namespace`);
    return all.filter((name) => name !== '');
  }

  /** Reads the non-empty texts of a list; a value of another type counts as absent. */
  list(key: string, limit: ListLimit): string[] {
    const value: unknown = this.#spec[key];
    return Array.isArray(value) ? asTexts(this.#boundedList(key, value, limit)) : [];
  }

  /** Reads all texts of a list; a value of another type is a problem. */
  strictList(key: string, limit: ListLimit): string[] {
    const value: unknown = this.#spec[key] ?? [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
      return this.#boundedList(key, value, limit);
    this.problems.push(`spec.${key} must be a list of texts, and is ${quoted(value)}`);
    return [];
  }

  /** Reads any value; undefined if its JSON is longer than `maxLength`. */
  value(key: string, maxLength: number): unknown {
    const value = this.#spec[key];
    return this.#isWithin(tooLongAsJson(`spec.${key}`, value, maxLength)) ? value : undefined;
  }

  /** Reads true or false; another value is a problem and counts as absent. */
  flag(key: string): boolean | undefined {
    const value = this.#spec[key] ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    this.problems.push(`spec.${key} must be true or false, and is ${quoted(value)}`);
    return undefined;
  }

  /** Reads a whole number from `min` to `max`; another value is a problem and counts as absent. */
  wholeNumber(key: string, [min, max]: readonly [min: number, max: number]): number | undefined {
    const value = this.#spec[key] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    this.problems.push(`spec.${key} must be a whole number from ${min} to ${max}, and is ${quoted(value)}`);
    return undefined;
  }

  /** Reads the complete spec; empty if its JSON is longer than `maxLength`. */
  bounded(maxLength: number): UntypedJson {
    return this.#isWithin(tooLongAsJson('spec', this.#spec, maxLength)) ? this.#spec : {};
  }

  #boundedList<Item>(key: string, list: readonly Item[], limit: ListLimit): Item[] {
    if (!this.#isWithin(tooMany(`spec.${key}`, list, limit))) return [];
    const long = (item: Item): string | undefined =>
      tooLong(`an entry of spec.${key}`, asText(item), textLimits.nameLength);
    return this.#isWithin(list.map(long).find((each) => each !== undefined)) ? [...list] : [];
  }

  #isWithin(problem: string | undefined): boolean {
    if (problem !== undefined) this.problems.push(problem);
    return problem === undefined;
  }
}

function tooLongAsJson(what: string, value: unknown, maxLength: number): string | undefined {
  const json = tryFormatJson(value);
  return json === undefined
    ? `${what} is ${tooDeep}: remove some levels`
    : tooLong(`${what}, as JSON,`, json, maxLength);
}

const tooDeep = 'nested too deeply';
const quoted = (value: unknown): string => truncate(tryFormatJson(value) ?? tooDeep);

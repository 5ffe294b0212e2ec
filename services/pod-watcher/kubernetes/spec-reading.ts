/** Reads the spec of an object field by field. A field over its limit reads as absent and is a problem, for a person to read. */
import { type Raw, text, texts } from '../../../lib/raw.ts';
import { shown, textLimits, tooLong, tooMany } from '../limits.ts';

/** How many entries a list may have, and what they are. */
interface ListLimit {
  readonly most: number;
  readonly unit: string;
}

/** What a text reads as that cannot be read, where an absent one would open something: no object has such a name. */
export const unreadable = '(unreadable)';

export class SpecReading {
  /** What is wrong, as sentences. */
  readonly problems: string[] = [];
  readonly #spec: Raw;

  constructor(spec: Raw) {
    this.#spec = spec;
  }

  /** A text; a value of another type reads as absent. */
  text(key: string, most: number): string {
    const value = text(this.#spec[key]);
    return this.#isWithin(tooLong(`spec.${key}`, value, most)) ? value : '';
  }

  /** The same, where a value of another type is a problem, too. */
  strictText(key: string, most: number): string {
    const value = this.#spec[key] ?? '';
    if (typeof value !== 'string') this.problems.push(`spec.${key} must be a text, and is ${quoted(value)}`);
    return this.text(key, most);
  }

  /** The same; it reads as `unreadable` where it is a problem, since an absent one means more than any text. */
  closedText(key: string, most: number): string {
    const before = this.problems.length;
    const value = this.strictText(key, most);
    return this.problems.length > before ? unreadable : value;
  }

  /** A list of names, where an empty one is a problem, too: without it the list could read as one that restricts nothing. */
  names(key: string, most: number): string[] {
    const all = this.strictList(key, { most, unit: 'names' });
    if (all.includes('')) this.problems.push(`spec.${key} has an empty entry: remove it, or name a namespace`);
    return all.filter((name) => name !== '');
  }

  /** The texts of a list that are not empty; a value of another type reads as absent. */
  list(key: string, limit: ListLimit): string[] {
    const value: unknown = this.#spec[key];
    return Array.isArray(value) ? texts(this.#bounded(key, value, limit)) : [];
  }

  /** All texts of a list, where a value of another type is a problem, too. */
  strictList(key: string, limit: ListLimit): string[] {
    const value: unknown = this.#spec[key] ?? [];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string'))
      return this.#bounded(key, value, limit);
    this.problems.push(`spec.${key} must be a list of texts, and is ${quoted(value)}`);
    return [];
  }

  /** Any value whose JSON is not longer than that; undefined for another. */
  value(key: string, most: number): unknown {
    const value = this.#spec[key];
    return this.#isWithin(tooLong(`spec.${key}, as JSON,`, jsonOf(value), most)) ? value : undefined;
  }

  /** A whole number from the least to the most; a value that is none is a problem, and reads as absent, as no value does. */
  wholeNumber(key: string, [least, most]: readonly [least: number, most: number]): number | undefined {
    const value = this.#spec[key] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most) return value;
    this.problems.push(`spec.${key} must be a whole number from ${least} to ${most}, and is ${quoted(value)}`);
    return undefined;
  }

  /** The whole spec if its JSON is not longer than that; else an empty one. */
  whole(most: number): Raw {
    return this.#isWithin(tooLong('spec, as JSON,', jsonOf(this.#spec), most)) ? this.#spec : {};
  }

  #bounded<Item>(key: string, list: readonly Item[], limit: ListLimit): Item[] {
    if (!this.#isWithin(tooMany(`spec.${key}`, list, limit))) return [];
    const long = (item: Item): string | undefined =>
      tooLong(`an entry of spec.${key}`, text(item), textLimits.nameLength);
    return this.#isWithin(list.map(long).find((each) => each !== undefined)) ? [...list] : [];
  }

  #isWithin(problem: string | undefined): boolean {
    if (problem !== undefined) this.problems.push(problem);
    return problem === undefined;
  }
}

const jsonOf = (value: unknown): string => JSON.stringify(value ?? null);
const quoted = (value: unknown): string => shown(jsonOf(value));

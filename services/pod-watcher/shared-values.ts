/**
 * Shares equal values, so that a long list of objects has each value once. It keeps a limited
 * number of values. Beyond that it starts again, and equal values may exist twice.
 */
const defaultMaxValues = 4_096;

export class SharedValues<Value> {
  readonly #values = new Map<string, Value>();
  readonly #maxValues: number;

  constructor(maxValues = defaultMaxValues) {
    this.#maxValues = maxValues;
  }

  /** Returns the first value that had this key. @param key must be equal only for equal values */
  share(key: string, value: Value): Value {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#values.size === this.#maxValues) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }

  clear(): void {
    this.#values.clear();
  }
}

/** The length of a text up to which it is shared. A longer text is not kept beyond its object. */
const maxLength = 256;
const texts = new SharedValues<string>(16_384);
const recentTexts = new SharedValues<string>(65_536);

/** Returns an equal text. Shares texts that many objects have, such as the name of a Subnet. */
export const sharedText = (text: string): string => (text.length > maxLength ? text : texts.share(text, text));

/** Shares a text of objects that arrive together, such as a Pod and its allocation. */
export const recentText = (text: string): string => (text.length > maxLength ? text : recentTexts.share(text, text));

/** Forgets the recent texts. Called when a program becomes idle. */
export const forgetRecentTexts = (): void => recentTexts.clear();

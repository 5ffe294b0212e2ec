/** The common fields of claims and allocations as bytes. Repeated values are stored as numbers. */
import type { Attachment } from '../../values/allocation.ts';
import { ByteReader, ByteWriter } from '../../compact/bytes.ts';

const attachmentKeys: readonly (keyof Attachment)[] = ['namespace', 'pod', 'provider', 'ordinal'];

/** How a record is stored: compact, or as JSON if it has an unusual shape. */
export const formats = { json: 0, compact: 1 } as const;

/** Longer texts rarely repeat, so they are not shared. */
const maxSharedLength = 256;

export class Fields {
  readonly writer = new ByteWriter();
  readonly reader = new ByteReader();
  readonly #texts: ValuePool<string>;
  readonly #lists: ValuePool<readonly string[]>;
  /** The last list with a single text, and its number. Successive records often share it. */
  #lastSingleText: string | undefined;
  #lastNumber: number | undefined;

  /** @param maxShared the number of shared texts, and of shared lists */
  constructor(maxShared: number) {
    this.#texts = new ValuePool(maxShared);
    this.#lists = new ValuePool(maxShared);
  }

  /** A shared text is its number + 1, another text 0 and the text. @throws TypeError for no text */
  writeShared(text: string): void {
    const isShared = typeof text === 'string' && text.length <= maxSharedLength;
    const number = isShared ? this.#texts.numberOf(text, text) : undefined;
    this.writer.number(number === undefined ? 0 : number + 1);
    if (number === undefined) this.writer.text(text);
  }

  readShared(): string {
    const number = this.reader.number();
    return number === 0 ? this.reader.text() : this.#texts.value(number - 1);
  }

  /** Writes a list like `writeShared`. */
  writeList(texts: readonly string[]): void {
    const [only = ''] = texts;
    const isSingle = texts.length === 1;
    if (!isSingle || only !== this.#lastSingleText) {
      this.#lastNumber = this.#lists.numberOf(isSingle ? `1 ${only}` : JSON.stringify(texts), texts);
      this.#lastSingleText = isSingle ? only : undefined;
    }
    const number = this.#lastNumber;
    this.writer.number(number === undefined ? 0 : number + 1);
    if (number === undefined) this.writeJson(texts);
  }

  /** Reads a list. A shared list is the same object each time. */
  readList(): readonly string[] {
    const number = this.reader.number();
    return number === 0 ? (this.readJson() as readonly string[]) : this.#lists.value(number - 1);
  }

  /** Writes a value that is rare or can have any shape. */
  writeJson(value: object): void {
    this.writer.text(JSON.stringify(value));
  }

  readJson(): unknown {
    return JSON.parse(this.reader.text());
  }

  readEach<Value>(count: number, read: () => Value): Value[] {
    const values: Value[] = [];
    while (values.length < count) values.push(read());
    return values;
  }

  /** @throws TypeError for an attachment of another shape. */
  writeAttachment(attachment: Attachment): void {
    requireShape(attachment, attachmentKeys);
    this.writeShared(attachment.namespace);
    this.writer.text(attachment.pod);
    this.writeShared(attachment.provider);
    this.writer.number(attachment.ordinal);
  }

  readAttachment(): Attachment {
    const namespace = this.readShared();
    const pod = this.reader.text();
    return { namespace, pod, provider: this.readShared(), ordinal: this.reader.number() };
  }
}

/** @throws TypeError if the keys of the object differ from `keys`, also in their order */
export function requireShape(value: object, keys: readonly string[], apart: readonly string[] = []): void {
  if (!hasShape(value, keys, apart)) throw new TypeError('a key is unknown, or not in its place');
}

function hasShape(value: object, keys: readonly string[], apart: readonly string[] = []): boolean {
  let next = 0;
  for (const key in value) {
    if (apart.includes(key)) continue;
    while (next < keys.length && keys[next] !== key) next++;
    if (next++ === keys.length) return false;
  }
  return true;
}

/** Whether two attachments have the same JSON text. False if one of them has an unusual shape. */
export const isSameAttachment = (one: Attachment, other: Attachment): boolean =>
  one === other ||
  (one.namespace === other.namespace &&
    one.pod === other.pod &&
    one.provider === other.provider &&
    one.ordinal === other.ordinal &&
    hasShape(one, attachmentKeys) &&
    hasShape(other, attachmentKeys));

/**
 * Numbers the values that many records share: namespaces, nodes, networks. A value keeps its number
 * forever, so the size of the pool is limited. When the pool is full, further values are stored in
 * each record.
 */
export class ValuePool<Value> {
  readonly #numbers = new Map<string, number>();
  readonly #values: Value[] = [];
  readonly #maxValues: number;

  constructor(maxValues: number) {
    this.#maxValues = maxValues;
  }

  /** The number of a value; undefined if the pool is full. @param key equal for equal values */
  numberOf(key: string, value: Value): number | undefined {
    const known = this.#numbers.get(key);
    if (known !== undefined || this.#values.length === this.#maxValues) return known;
    this.#numbers.set(key, this.#values.length);
    return this.#values.push(value) - 1;
  }

  /** The value with a number that `numberOf` returned: the same object each time. */
  value(number: number): Value {
    return this.#values[number] as Value;
  }
}

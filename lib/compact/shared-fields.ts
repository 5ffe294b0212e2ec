/** The fields of records as bytes. Values that many records have are numbers of a pool. */
import { ByteReader, ByteWriter } from './bytes.ts';
import { ValuePool } from './value-pool.ts';

/** Longer texts are not of the kind that repeats. */
const maxSharedLength = 256;

export class SharedFields {
  readonly writer = new ByteWriter();
  readonly reader = new ByteReader();
  readonly #texts: ValuePool<string>;
  readonly #lists: ValuePool<readonly string[]>;
  /** The text of the last list if it had exactly one, and its number: successive records usually have the same. */
  #lastSingleText: string | undefined;
  #lastNumber: number | undefined;

  /** @param maxShared the number of shared texts, and of shared lists. */
  constructor(maxShared: number) {
    this.#texts = new ValuePool(maxShared);
    this.#lists = new ValuePool(maxShared);
  }

  /** A text that many records have: its number + 1, or 0 and the text. @throws TypeError for a value that is not a text */
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

  /** A list that many records have, as `writeShared`. */
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

  /** A list that was written: the same object each time, if it is shared. */
  readList(): readonly string[] {
    const number = this.reader.number();
    return number === 0 ? (this.readJson() as readonly string[]) : this.#lists.value(number - 1);
  }

  /** A value that is rare, or of any shape. */
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
}

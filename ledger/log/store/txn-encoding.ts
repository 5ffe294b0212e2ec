/**
 * Encodes an etcd transaction as the bytes of a TxnRequest (etcd's api/etcdserverpb/rpc.proto). The
 * client package would copy each key and value into a Buffer, and build a tree of message objects.
 * This encoder writes each value once, into one buffer.
 *
 * The buffer is filled from its end to its beginning, because the length of a message precedes its
 * content, and is known only after the content is written.
 */

/** A condition on a key, or on keys from `key` to `rangeEnd` (exclusive). Revision 0: no key. */
export interface Compare {
  readonly key: string;
  readonly rangeEnd?: string;
  readonly equals: { readonly create: bigint } | { readonly mod: bigint } | { readonly value: string };
}

/**
 * A put. Without a value, the deletion of the key, or of the keys from `key` to `rangeEnd`
 * (exclusive).
 */
export interface Put {
  readonly key: string;
  readonly value: string | undefined;
  readonly rangeEnd?: string;
}

/** A read of one key, or of at most `limit` keys from `key` to `rangeEnd`. */
export interface Read {
  readonly key: string;
  readonly rangeEnd?: string;
  readonly limit?: number;
}

export interface Transaction {
  readonly compares: readonly Compare[];
  /** Executed if all compares pass. */
  readonly puts: readonly Put[];
  /** Executed if a compare fails. */
  readonly reads: readonly Read[];
}

const [varint, delimited] = [0, 2];
/** Values of Compare.CompareTarget. */
const [createTarget, modTarget, valueTarget] = [1, 2, 3];

export function encodeTransaction({ compares, puts, reads }: Transaction): Buffer {
  const writer = new BackwardWriter();
  for (const read of reads.toReversed()) writer.message(3, () => writeRead(writer, read));
  for (const put of puts.toReversed()) writer.message(2, () => writePut(writer, put));
  for (const compare of compares.toReversed()) writer.message(1, () => writeCompare(writer, compare));
  return writer.finish();
}

function writeCompare(writer: BackwardWriter, { key, rangeEnd, equals }: Compare): void {
  if (rangeEnd !== undefined) writer.text(64, rangeEnd);
  if ('create' in equals) writer.number(5, equals.create);
  else if ('mod' in equals) writer.number(6, equals.mod);
  else writer.text(7, equals.value);
  writer.text(3, key);
  writer.number(2, 'create' in equals ? createTarget : 'mod' in equals ? modTarget : valueTarget);
}

function writePut(writer: BackwardWriter, { key, value, rangeEnd }: Put): void {
  if (value === undefined)
    return writer.message(3, () => {
      if (rangeEnd !== undefined) writer.text(2, rangeEnd);
      writer.text(1, key);
    });
  writer.message(2, () => {
    writer.text(2, value);
    writer.text(1, key);
  });
}

function writeRead(writer: BackwardWriter, { key, rangeEnd, limit }: Read): void {
  writer.message(1, () => {
    if (limit !== undefined) writer.number(3, limit);
    if (rangeEnd !== undefined) writer.text(2, rangeEnd);
    writer.text(1, key);
  });
}

const minCapacity = 16 << 10;
/** The size of the last transaction: the next is about as large, and growing copies the buffer. */
let expectedBytes = 0;

/** Writes the fields of a protobuf message, the last field first. */
class BackwardWriter {
  #buffer = Buffer.allocUnsafe(Math.max(minCapacity, Math.ceil(expectedBytes * 1.125)));
  #start = this.#buffer.length;

  /** Writes a message field whose fields `writeFields` writes. */
  message(field: number, writeFields: () => void): void {
    const sizeBefore = this.#size;
    writeFields();
    this.#varint(this.#size - sizeBefore);
    this.#varint((field << 3) | delimited);
  }

  text(field: number, text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#reserve(bytes);
    this.#start -= bytes;
    this.#buffer.write(text, this.#start, 'utf8');
    this.#varint(bytes);
    this.#varint((field << 3) | delimited);
  }

  number(field: number, value: number | bigint): void {
    this.#varint(Number(value));
    this.#varint((field << 3) | varint);
  }

  finish(): Buffer {
    expectedBytes = this.#size;
    return this.#buffer.subarray(this.#start);
  }

  get #size(): number {
    return this.#buffer.length - this.#start;
  }

  /** @param value a safe integer */
  #varint(value: number): void {
    let length = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length++;
    this.#reserve(length);
    this.#start -= length;
    let rest = value;
    for (let index = 0; index < length; index++, rest = Math.floor(rest / 128))
      this.#buffer[this.#start + index] = (rest % 128) | (index < length - 1 ? 128 : 0);
  }

  /** Makes room for bytes before those that are already written. */
  #reserve(bytes: number): void {
    if (bytes <= this.#start) return;
    const size = this.#size;
    const larger = Buffer.allocUnsafe(2 * (size + bytes));
    this.#buffer.copy(larger, larger.length - size, this.#start);
    this.#buffer = larger;
    this.#start = larger.length - size;
  }
}

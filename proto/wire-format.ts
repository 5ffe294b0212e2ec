/**
 * Protobuf's binary encoding, driven by a table of the messages. It covers what ipledger.proto
 * uses: string, bool, uint32, uint64, enums, messages, lists and `optional`. Reader and Writer come
 * from protobufjs.
 *
 * It differs from protobufjs in two points. A number that JavaScript cannot hold exactly is an
 * error in both directions. If a message occurs twice in one field, the second replaces the first;
 * protobuf would merge them, but no encoder writes that.
 */
import protobuf from 'protobufjs/minimal.js';

/** A field: name, number and type, and `repeated` or `optional`. */
type FieldRow = readonly (string | number)[];

/** The contents of generated/ipledger.json. */
export interface MessageTables {
  /** The names of each enum's values. The position of a name is its value. */
  readonly enums: Readonly<Record<string, readonly string[]>>;
  readonly messages: Readonly<Record<string, readonly FieldRow[]>>;
}

const scalars = { string: '', bool: false, uint32: 0, uint64: 0 } as const;
type ScalarType = keyof typeof scalars;

interface Field {
  readonly name: string;
  readonly tag: number;
  readonly isRepeated: boolean;
  /** Whether an absent value stays absent, and a zero is written. */
  readonly isOptional: boolean;
  /** The type of a value: a scalar, an enum with these names, or a message. */
  readonly type: ScalarType | readonly string[] | (() => MessageType);
  /** The value of an absent field. */
  readonly zero: unknown;
}

export interface MessageType {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly fieldOf: ReadonlyMap<number, Field>;
  /** An empty message, with the values of absent fields. */
  readonly absent: Plain;
  readonly lists: readonly string[];
}

type Plain = Record<string, unknown>;

const [varint, delimited] = [0, 2];
const maxUint32 = 2 ** 32 - 1;

/** Returns the message types of a table, by name. Each type is built when it is first used. */
export function messageTypes({ enums, messages }: MessageTables): (name: string) => MessageType {
  const types = new Map<string, MessageType>();
  const build = (name: string): MessageType => {
    const rows = messages[name];
    if (!rows) throw new TypeError(`no message ${name}: run \`make generate\``);
    const fields = rows.map((row) => fieldOf(row));
    const absent = fields.filter(({ isOptional }) => !isOptional).map((field) => [field.name, field.zero]);
    const type: MessageType = {
      name,
      fields,
      fieldOf: new Map(fields.map((field) => [field.tag >>> 3, field])),
      absent: Object.fromEntries(absent) as Plain,
      lists: fields.filter(({ isRepeated }) => isRepeated).map((field) => field.name),
    };
    types.set(name, type);
    return type;
  };
  const typeOf = (name: string): MessageType => types.get(name) ?? build(name);
  const fieldOf = ([name, id, typeName, label]: FieldRow): Field => {
    const [key, text] = [Number(id), String(typeName)];
    const type = text in scalars ? (text as ScalarType) : (enums[text] ?? (() => typeOf(text)));
    const isRepeated = label === 'repeated';
    const isOptional = label === 'optional' || (typeof type === 'function' && !isRepeated);
    const wireType = isRepeated || !isPackable({ type }) ? delimited : varint;
    const zero = typeof type === 'string' ? scalars[type] : typeof type === 'function' ? undefined : type[0];
    return { name: String(name), tag: (key << 3) | wireType, isRepeated, isOptional, type, zero };
  };
  return typeOf;
}

/** @throws RangeError for a number that the field cannot hold; TypeError for another type */
export function writeMessage(type: MessageType, plain: Plain, writer = protobuf.Writer.create()): protobuf.Writer {
  for (const field of type.fields) {
    const value = plain[field.name];
    if (value === undefined || value === null) continue;
    if (field.isRepeated) writeList(field, value as readonly unknown[], writer);
    else if (field.isOptional || value !== field.zero) writeValue(field, value, writer.uint32(field.tag));
  }
  return writer;
}

function writeList(field: Field, values: readonly unknown[], writer: protobuf.Writer): void {
  if (!Array.isArray(values)) throw new TypeError(`${field.name} is no list`);
  if (values.length === 0) return;
  if (!isPackable(field)) {
    for (const [index, value] of values.entries()) writeValue(field, value, writer.uint32(field.tag), index);
    return;
  }
  writer.uint32(field.tag).fork();
  for (const value of values) writeValue(field, value, writer);
  writer.ldelim();
}

function writeValue(field: Field, value: unknown, writer: protobuf.Writer, index?: number): void {
  const { name, type } = field;
  if (typeof type === 'function') writeNested(field, value, writer, index);
  else if (type === 'string') writer.string(String(value));
  else if (type === 'bool') writer.bool(Boolean(value));
  else if (type === 'uint32') writer.uint32(checkedNumber(name, value, maxUint32));
  else if (type === 'uint64') writer.uint64(checkedNumber(name, value, Number.MAX_SAFE_INTEGER));
  else writer.uint32(typeof value === 'number' ? value : enumValue(name, value, type));
}

function writeNested({ name, type }: Field, value: unknown, writer: protobuf.Writer, index?: number): void {
  try {
    if (typeof value !== 'object' || value === null) throw new TypeError('is no message');
    writeMessage((type as () => MessageType)(), value as Plain, writer.fork()).ldelim();
  } catch (error) {
    if (error instanceof Error) error.message = `${name}.${index === undefined ? '' : `${index}.`}${error.message}`;
    throw error;
  }
}

function checkedNumber(name: string, value: unknown, max: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max) return value;
  throw new RangeError(`${name} is ${String(value)}: it must be a whole number from 0 to ${max}`);
}

function enumValue(name: string, value: unknown, names: readonly string[]): number {
  const index = names.indexOf(String(value));
  if (index >= 0) return index;
  throw new TypeError(`${name} is ${String(value)}: it must be one of ${names.join(', ')}`);
}

/**
 * Reads a message to a plain object. Scalars and lists are always present, messages and `optional`
 * fields only if they were written. Unknown fields are skipped, as protobuf requires.
 * @throws Error for truncated bytes; RangeError for a number beyond 2^53 - 1
 */
export function readMessage(type: MessageType, reader: protobuf.Reader, end = reader.len): Plain {
  const plain = { ...type.absent };
  for (const name of type.lists) plain[name] = [];
  while (reader.pos < end) {
    const tag = reader.uint32();
    const field = type.fieldOf.get(tag >>> 3);
    if (field) readField(type, field, plain, { reader, wireType: tag & 7 });
    else reader.skipType(tag & 7);
  }
  if (reader.pos !== end) throw new RangeError(`${type.name} ends beyond its length`);
  return plain;
}

interface Source {
  readonly reader: protobuf.Reader;
  readonly wireType: number;
}

function readField(type: MessageType, field: Field, plain: Plain, { reader, wireType }: Source): void {
  const { name, isRepeated } = field;
  if (isRepeated && isPackable(field) && wireType === delimited) {
    const list = plain[name] as unknown[];
    const end = reader.uint32() + reader.pos;
    while (reader.pos < end) list.push(readValue(type, field, reader));
  } else if (wireType !== (isPackable(field) ? varint : delimited)) reader.skipType(wireType);
  else if (isRepeated) (plain[name] as unknown[]).push(readValue(type, field, reader));
  else plain[name] = readValue(type, field, reader);
}

/** Whether a list is packed: numbers, booleans and enums follow each other without tags. */
const isPackable = ({ type }: Pick<Field, 'type'>): boolean => type !== 'string' && typeof type !== 'function';

function readValue(owner: MessageType, { name, type }: Field, reader: protobuf.Reader): unknown {
  if (type === 'string') return reader.string();
  if (type === 'bool') return reader.bool();
  if (type === 'uint32') return reader.uint32();
  if (type === 'uint64') return readUint64(`${owner.name}.${name}`, reader);
  if (typeof type !== 'function') {
    const index = reader.uint32();
    return type[index] ?? index;
  }
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new RangeError(`${owner.name}.${name} is cut off`);
  return readMessage(type(), reader, end);
}

/** @throws RangeError for a number beyond 2^53 - 1, with the name of the field */
function readUint64(field: string, reader: protobuf.Reader): number {
  const value = reader.uint64();
  // Multiplies large numbers only: V8 keeps each product as a floating-point number of 16 bytes.
  if (typeof value !== 'number' && value.high === 0) return value.low >>> 0;
  const number = typeof value === 'number' ? value : (value.high >>> 0) * 2 ** 32 + (value.low >>> 0);
  if (Number.isSafeInteger(number)) return number;
  throw new RangeError(`${field} is over 2^53 - 1: such a number is not exact`);
}

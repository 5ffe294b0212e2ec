/**
 * Values of columns, and their JSON (RFC 7047, section 5.1).
 *
 * | column     | value in TypeScript    | JSON                                            |
 * | scalar     | Atom                   | the atom; `["uuid", …]` for a UUID              |
 * | optional   | Atom or undefined      | as a set                                        |
 * | set        | ReadonlySet<Atom>      | `["set", […]]`, or the bare atom if there is one |
 * | map        | ReadonlyMap<Atom, Atom> | `["map", [[key, value], …]]`                    |
 *
 * An integer beyond ±2^53 loses its last digits when it is read, and is rejected when it is
 * written.
 */
import { readArray } from './json.ts';
import { invalidRequest, protocolError } from './ovsdb-error.ts';
import { type AtomType, type ColumnType, shapeOf } from './schema.ts';

/** A single value. A UUID is a text of 36 characters. */
export type Atom = string | number | boolean;

/** The value of a column. */
export type Value = Atom | ReadonlySet<Atom> | ReadonlyMap<Atom, Atom> | undefined;

/** Refers to a row that the same transaction inserts under this name. */
export interface NamedUuid {
  readonly uuidName: string;
}

type NewAtom = Atom | NamedUuid;

/** A value that a transaction may write into a column. */
export type NewValue = NewAtom | ReadonlySet<NewAtom> | ReadonlyMap<NewAtom, NewAtom> | undefined;

/** Columns by name. */
export type Row = Readonly<Record<string, Value>>;
export type NewRow = Readonly<Record<string, NewValue>>;

export const zeroUuid = '00000000-0000-0000-0000-000000000000';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const uuidNamePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The value of a column that an insertion does not set (RFC 7047, section 5.2.1). */
export function defaultValue(type: ColumnType): Value {
  const { key, value = key, min } = type;
  switch (shapeOf(type)) {
    case 'scalar':
      return defaultAtoms[key];
    case 'optional':
      return undefined;
    case 'set':
      return new Set(min === 0 ? [] : [defaultAtoms[key]]);
    case 'map':
      return new Map(min === 0 ? [] : [[defaultAtoms[key], defaultAtoms[value]]]);
  }
}

const defaultAtoms: Readonly<Record<AtomType, Atom>> = {
  integer: 0,
  real: 0,
  boolean: false,
  string: '',
  uuid: zeroUuid,
};

/** @throws OvsdbError PROTOCOL if the JSON is not a value of this type */
export function decodeValue(type: ColumnType, json: unknown): Value {
  switch (shapeOf(type)) {
    case 'scalar':
      return decodeAtom(type.key, json);
    case 'optional':
      return decodeSet(type.key, json)[0];
    case 'set':
      return new Set(decodeSet(type.key, json));
    case 'map':
      return new Map(decodePairs(type, json));
  }
}

/**
 * The value after a "modify" of `monitor_cond` or `monitor_cond_since`. A column with at most one
 * element carries its new value. A larger set carries the elements that were added or removed. A
 * map carries the pairs that were added, changed or removed; a removed pair has its old value.
 */
export function applyDifference(type: ColumnType, before: Value, json: unknown): Value {
  if (type.max === 1) return decodeValue(type, json);
  if (before instanceof Map) {
    const after = new Map<Atom, Atom>(before);
    for (const [key, value] of decodePairs(type, json))
      if (after.get(key) === value) after.delete(key);
      else after.set(key, value);
    return after;
  }
  if (!(before instanceof Set))
    throw protocolError('the server sent a difference for a value that is neither set nor map');
  const after = new Set<Atom>(before);
  for (const atom of decodeSet(type.key, json)) if (!after.delete(atom)) after.add(atom);
  return after;
}

function decodeSet(key: AtomType, json: unknown): Atom[] {
  // A set with one element arrives without its tag.
  if (!isTagged(json, 'set')) return [decodeAtom(key, json)];
  return readArray(json[1], 'a set').map((atom) => decodeAtom(key, atom));
}

function decodePairs({ key, value = key }: ColumnType, json: unknown): [Atom, Atom][] {
  if (!isTagged(json, 'map')) throw protocolError('the server sent a map without its tag');
  return readArray(json[1], 'a map').map((pair) => {
    const [left, right] = readArray(pair, 'a pair of a map');
    return [decodeAtom(key, left), decodeAtom(value, right)];
  });
}

function decodeAtom(type: AtomType, json: unknown): Atom {
  if (type === 'uuid') return decodeUuid(json);
  if (type === 'string' || type === 'boolean') {
    if (typeof json === type) return json as string | boolean;
  } else if (typeof json === 'number') return json;
  throw protocolError(`the server sent a value that is no ${type}`);
}

/** @throws OvsdbError PROTOCOL if the JSON is no UUID */
export function decodeUuid(json: unknown): string {
  if (isTagged(json, 'uuid') && typeof json[1] === 'string' && uuidPattern.test(json[1])) return json[1];
  throw protocolError('the server sent a value that is no uuid');
}

const isTagged = (json: unknown, tag: string): json is readonly [string, unknown] =>
  Array.isArray(json) && json.length === 2 && json[0] === tag;

/**
 * @param what names the column in the error
 * @throws OvsdbError INVALID_REQUEST if the value does not have the type
 */
export function encodeValue(type: ColumnType, value: NewValue, what: string): unknown {
  const shape = shapeOf(type);
  if (shape === 'map') return encodeMap(type, value, what);
  if (shape === 'scalar' || (shape === 'optional' && value !== undefined)) return encodeAtom(type.key, value, what);
  if (value === undefined && shape === 'optional') return ['set', []];
  return encodeSet(type, value, what);
}

/** Encodes a set of keys, also for a column that holds one atom or a map. */
export function encodeSet({ key }: ColumnType, value: NewValue, what: string): unknown {
  if (!(value instanceof Set)) throw invalidRequest(`${what} needs a Set`);
  return ['set', [...(value as ReadonlySet<NewAtom>)].map((atom) => encodeAtom(key, atom, what))];
}

function encodeMap({ key, value: valueType = key }: ColumnType, value: NewValue, what: string): unknown {
  if (!(value instanceof Map)) throw invalidRequest(`${what} needs a Map`);
  const pairs = [...(value as ReadonlyMap<NewAtom, NewAtom>)];
  return ['map', pairs.map(([left, right]) => [encodeAtom(key, left, what), encodeAtom(valueType, right, what)])];
}

/** Rejects NUL and half surrogate pairs, because a server closes the connection for such a text. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.isWellFormed() && !value.includes('\0');

function encodeAtom(type: AtomType, value: NewValue, what: string): unknown {
  switch (type) {
    case 'integer':
      if (Number.isSafeInteger(value)) return value;
      break;
    case 'real':
      if (Number.isFinite(value)) return value;
      break;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      break;
    case 'string':
      if (isText(value)) return value;
      break;
    case 'uuid':
      if (typeof value === 'string' && uuidPattern.test(value)) return ['uuid', value];
      if (isNamedUuid(value) && isUuidName(value.uuidName)) return ['named-uuid', value.uuidName];
      break;
  }
  throw invalidRequest(`${what} has a value that is no ${type}`);
}

const isNamedUuid = (value: NewValue): value is NamedUuid => typeof value === 'object' && 'uuidName' in value;

/** Whether a text may name an inserted row. A dash is not allowed. */
export const isUuidName = (text: string): boolean => uuidNamePattern.test(text);

/** Returns the value of a text column; "" for any other value. */
export const textOf = (value: Value): string => (typeof value === 'string' ? value : '');

const noPairs: ReadonlyMap<string, string> = new Map();
const noTexts: ReadonlySet<string> = new Set();

/** Returns a map of text to text; an empty map for any other value. */
export const textMap = (value: Value): ReadonlyMap<string, string> =>
  value instanceof Map ? (value as ReadonlyMap<string, string>) : noPairs;

/** Returns the texts or UUIDs of a set, or of an optional value. */
export function textSet(value: Value): ReadonlySet<string> {
  if (value instanceof Set) return value as ReadonlySet<string>;
  return typeof value === 'string' ? new Set([value]) : noTexts;
}

/** Whether two values are equal. The order of sets and maps does not matter. */
export function areEqual(left: Value, right: Value): boolean {
  if (left instanceof Set && right instanceof Set)
    return left.size === right.size && [...(left as ReadonlySet<Atom>)].every((atom) => right.has(atom));
  if (left instanceof Map && right instanceof Map)
    return (
      left.size === right.size &&
      [...(left as ReadonlyMap<Atom, Atom>)].every(([key, value]) => right.get(key) === value)
    );
  return left === right;
}

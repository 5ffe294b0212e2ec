/** Mutates inputs: bytes, lines, and the values of JSON, also of JSON inside of texts. */
import { tryParseJson } from '../../lib/kubernetes/untyped-json.ts';
import type { SeededRandom } from '../faults/seeded-random.ts';
import type { InputFormat } from './fuzz-target.ts';

/** Texts that a field could have by mistake, or by intent. */
const oddTexts = [
  '',
  ' ',
  '0',
  '-1',
  '1e9',
  '9007199254740993',
  'null',
  'true',
  '\0',
  '\n',
  '\u001b[2J',
  '\u202e',
  '\ud800',
  '\ufeff',
  '🙂',
  '..',
  '../../etc/passwd',
  '/',
  '@',
  ',',
  '%',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '0.0.0.0',
  '255.255.255.255',
  '0.0.0.0/0',
  '10.0.0.0/33',
  '10.0.0.1/24',
  '010.0.0.1',
  '10.0.0.0..10.255.255.255',
  '10.0.0.9..10.0.0.1',
  '::',
  '::/0',
  'fd00::/64',
  '::ffff:10.0.0.1',
  'fe80::1%eth0',
  '::..ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '10.0.0.0/8,fd00::/8',
  '02:00:00:00:00:01',
  'ff:ff:ff:ff:ff:ff',
  '2026-02-30T00:00:00.000Z',
  '+275760-09-13T00:00:00.001Z',
  '0000-01-01T00:00:00.000Z',
  '{"a":1}',
  '[[[[]]]]',
  'switch/small',
  'small.default',
  'ovn',
  'a.b.c.ovn',
] as const;

/** A mark that is replaced by nested lists. The Kubernetes API accepts 10,000 levels. */
const deepMark = '\u0001deep';
const levels = 9_000;
const deepLists = /\[{1000,}\]{1000,}/g;

/** Values as JSON text: each use is a value of its own, which later mutations change. */
const oddValues = [
  'null',
  'true',
  'false',
  '0',
  '-1',
  '0.5',
  '1e308',
  '9007199254740992',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"":""}',
  '{"length":1e9}',
  '{"toString":1}',
  '{"then":1}',
  JSON.stringify(deepMark),
];
const oddValue = (random: SeededRandom): unknown => JSON.parse(random.pick(oddValues));

/** The inputs from which others are made. */
export interface Seeds {
  readonly valid: readonly Buffer[];
  /** Inputs with rare outcomes. Most are rejected, and so are their mutations. */
  readonly rare: readonly Buffer[];
}

/** Mutates one of the seeds. The result has at most `maxBytes`. */
export function mutate(format: InputFormat, { valid, rare }: Seeds, random: SeededRandom, maxBytes: number): Buffer {
  const seeds = rare.length > 0 && random.nextBoolean(0.3) ? rare : valid;
  const seed = random.pick(seeds);
  const isRaw = format === 'bytes' || random.nextBoolean(0.15);
  const mutated = isRaw ? mutateBytes(seed, seeds, random) : Buffer.from(mutateText(format, seed, seeds, random));
  return mutated.length > maxBytes ? mutated.subarray(0, maxBytes) : mutated;
}

function mutateText(format: InputFormat, seed: Buffer, seeds: readonly Buffer[], random: SeededRandom): string {
  const text = seed.toString();
  const other = (): string => random.pick(seeds).toString();
  if (format === 'json') return mutateJson(text, other, random);
  if (format === 'text') return mutateString(text, random);
  return mutateLines(text.split('\n'), other, random).join('\n');
}

function mutateLines(lines: string[], other: () => string, random: SeededRandom): string[] {
  for (let left = countOf(random); left > 0; left--) {
    const at = random.nextInt(lines.length);
    const line = lines[at] ?? '';
    const otherLine = (): string => random.pick(other().split('\n'));
    switch (random.nextInt(6)) {
      case 0:
        lines.splice(at, 1);
        break;
      case 1:
        lines.splice(at, 0, otherLine());
        break;
      case 2:
        lines.splice(at, 1, line, line);
        break;
      default:
        lines[at] = line.startsWith('{') ? mutateJson(line, otherLine, random) : mutateString(line, random);
    }
    if (lines.length === 0) lines.push('');
  }
  return lines;
}

/** Returns the number of mutations, mostly 1: further mutations hide the effects of others. */
function countOf(random: SeededRandom): number {
  let count = 1;
  while (count < 8 && random.nextBoolean(0.4)) count++;
  return count;
}

function mutateJson(text: string, other: () => string, random: SeededRandom): string {
  const value = parseSeed(text);
  if (value === undefined) return mutateString(text, random);
  const root = { value };
  for (let left = countOf(random); left > 0; left--) {
    const place = placeIn(root, random);
    mutateAt(place, () => placeIn({ value: parseSeed(other()) }, random), random);
  }
  const mutated = JSON.stringify(root.value) ?? '';
  return mutated.includes('\\u0001deep')
    ? mutated.replaceAll('"\\u0001deep"', '['.repeat(levels) + ']'.repeat(levels))
    : mutated;
}

const parseSeed = (text: string): unknown => tryParseJson(text.replaceAll(deepLists, JSON.stringify(deepMark)));

type Parent = Record<string, unknown> | unknown[];

interface Place {
  readonly parent: Parent;
  readonly key: string;
}

const valueAt = ({ parent, key }: Place): unknown => (parent as Record<string, unknown>)[key];

/** Chooses a place in a value: each level is as likely as the level above it. */
function placeIn(root: { value: unknown }, random: SeededRandom): Place {
  let place: Place = { parent: root, key: 'value' };
  for (;;) {
    const value = valueAt(place);
    if (typeof value !== 'object' || value === null) return place;
    const keys = Object.keys(value);
    if (keys.length === 0 || random.nextBoolean(0.15)) return place;
    place = { parent: value as Parent, key: random.pick(keys) };
  }
}

function mutateAt(place: Place, otherPlace: () => Place, random: SeededRandom): void {
  const { parent, key } = place;
  const value = valueAt(place);
  const set = (next: unknown): void => void ((parent as Record<string, unknown>)[key] = next);
  if (typeof value === 'string' && random.nextBoolean(0.5)) {
    const isJson = /^\s*[[{]/.test(value) && random.nextBoolean(0.8);
    return set(isJson ? mutateJson(value, () => '{}', random) : mutateString(value, random));
  }
  switch (random.nextInt(8)) {
    case 0:
      return set(oddValue(random));
    case 1:
      return set(random.pick(oddTexts));
    case 2:
      if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else Reflect.deleteProperty(parent, key);
      return;
    case 3:
      return set(structuredClone(valueAt(otherPlace())));
    case 4:
      return repeatAt(place, random);
    case 5:
      return renameAt(place, random);
    case 6:
      return set(typeof value === 'number' ? value + random.pick([-1, 1, 0.5, 1e15]) : [value]);
    default:
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        const { key: otherKey } = otherPlace();
        Object.assign(value, { [random.pick([...oddTexts, otherKey])]: oddValue(random) });
      } else set(oddValue(random));
  }
}

/** The most bytes to repeat: repetitions of repetitions would grow without a limit. */
const maxRepeatedBytes = 16 << 10;

function repeatAt({ parent, key }: Place, random: SeededRandom): void {
  const value = (parent as Record<string, unknown>)[key];
  const { length } = JSON.stringify(value) ?? '';
  const most = Math.ceil(maxRepeatedBytes / (length + 1));
  const times = Math.min(most, random.pick([2, 3, 30, 300]));
  if (Array.isArray(parent))
    parent.splice(Number(key), 1, ...Array.from({ length: times }, () => structuredClone(value)));
  else parent[key] = Array.from({ length: times }, () => structuredClone(value));
}

function renameAt({ parent, key }: Place, random: SeededRandom): void {
  if (Array.isArray(parent)) return;
  const { [key]: value } = parent;
  Reflect.deleteProperty(parent, key);
  const name = random.pick([key.toUpperCase(), `${key} `, mutateString(key, random), '__proto__']);
  Object.defineProperty(parent, name, { value, enumerable: true, configurable: true, writable: true });
}

function mutateString(text: string, random: SeededRandom): string {
  const [from, to] = [random.nextInt(text.length + 1), random.nextInt(text.length + 1)].toSorted((a, b) => a - b) as [
    number,
    number,
  ];
  switch (random.nextInt(7)) {
    case 0:
      return random.pick(oddTexts);
    case 1:
      return text.slice(0, from) + random.pick(oddTexts) + text.slice(from);
    case 2:
      return text.slice(0, from) + text.slice(to);
    case 3:
      return text.slice(0, to) + text.slice(from, to).repeat(random.pick([1, 2, 40])) + text.slice(to);
    case 4:
      return text.slice(0, from) + random.pick(oddTexts) + text.slice(to);
    case 5:
      return text.slice(0, from) + String.fromCharCode(random.nextInt(128)) + text.slice(from + 1);
    default:
      return text.replace(/\d+/, () => String(random.pick([0, 1, 255, 256, 2 ** 31, 2 ** 53, 1e21])));
  }
}

function mutateBytes(seed: Buffer, seeds: readonly Buffer[], random: SeededRandom): Buffer {
  let bytes = Buffer.from(seed);
  for (let left = countOf(random); left > 0; left--) {
    const at = random.nextInt(bytes.length + 1);
    switch (random.nextInt(6)) {
      case 0:
        if (at < bytes.length) bytes[at] = random.nextInt(256);
        break;
      case 1:
        if (at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << random.nextInt(8));
        break;
      case 2:
        bytes = bytes.subarray(0, at);
        break;
      case 3: {
        const other = random.pick(seeds);
        bytes = Buffer.concat([bytes.subarray(0, at), other.subarray(random.nextInt(other.length + 1))]);
        break;
      }
      case 4: {
        const inserted = Buffer.alloc(random.pick([1, 2, 8, 600]), random.pick([0, 0x0a, 0x41, 0x7f, 0x80, 0xff]));
        bytes = Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(at)]);
        break;
      }
      default: {
        const end = at + random.nextInt(Math.min(16, bytes.length - at) + 1);
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
      }
    }
  }
  return bytes;
}

/** What verification says of a key that is not as it should be. */
export interface Finding {
  /** The key in etcd; of an export, the key that the line would stand under. */
  readonly key: string;
  /** What is wrong with it, a sentence. */
  readonly what: string;
  /** What it should hold by the log; absent for the log and its head, and for what should not be there. */
  readonly expected?: string;
}

const shown = (value: unknown): string =>
  value === undefined ? 'not there' : (JSON.stringify(value) ?? 'not there').slice(0, 120);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/**
 * The first difference between what a key holds and what it should hold, both JSON; undefined where they say the same, however
 * it is written down.
 */
export function differenceOf(found: string, expected: string): string | undefined {
  if (found === expected) return undefined;
  try {
    return differenceIn('', JSON.parse(found), JSON.parse(expected));
  } catch {
    return `it is no JSON: ${found.slice(0, 120)}`;
  }
}

function differenceIn(path: string, found: unknown, expected: unknown): string | undefined {
  if (!isObject(found) || !isObject(expected) || Array.isArray(found) !== Array.isArray(expected))
    return found === expected ? undefined : `${path || 'it'} is ${shown(found)}, by the log it is ${shown(expected)}`;
  for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const difference = differenceIn(path === '' ? name : `${path}.${name}`, found[name], expected[name]);
    if (difference) return difference;
  }
  return undefined;
}

/** One problem that verification reports. */
export interface Finding {
  /** The key in etcd; for an export, the key of the line. */
  readonly key: string;
  /** The problem, as a sentence. */
  readonly what: string;
  /**
   * The value that follows from the log. Absent for the log, for its head, and for keys that must
   * not exist.
   */
  readonly expected?: string;
}

const formatValue = (value: unknown): string =>
  value === undefined ? 'absent' : (JSON.stringify(value) ?? 'absent').slice(0, 120);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/**
 * The first difference between the found and the expected JSON value of a key; undefined if both
 * are equal in any layout.
 */
export function differenceOf(found: string, expected: string): string | undefined {
  if (found === expected) return undefined;
  try {
    return differenceIn('', JSON.parse(found), JSON.parse(expected));
  } catch {
    return `the value is not JSON: ${found.slice(0, 120)}`;
  }
}

function differenceIn(path: string, found: unknown, expected: unknown): string | undefined {
  if (!isObject(found) || !isObject(expected) || Array.isArray(found) !== Array.isArray(expected))
    return found === expected
      ? undefined
      : `${path || 'the value'} is ${formatValue(found)}, but according to the log ${formatValue(expected)}`;
  for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const difference = differenceIn(path === '' ? name : `${path}.${name}`, found[name], expected[name]);
    if (difference) return difference;
  }
  return undefined;
}

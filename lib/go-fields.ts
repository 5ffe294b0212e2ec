/**
 * JSON objects as Go's encoding/json reads them into a struct: names in any letter case, and null
 * as an absent value. Multus, the CNI plugins and Kube-OVN read annotations and configurations with
 * it. A program that compares exactly would not see what they see.
 *
 * Source: https://pkg.go.dev/encoding/json#Unmarshal
 */

/**
 * Returns a function that renames the fields of an object to these names. Null does not count; of
 * several values of one field the last counts. Other fields, and other values than objects, stay as
 * they are.
 */
export function goFields(names: readonly string[]): (value: unknown) => unknown {
  const known = new Map(names.map((name) => [foldCase(name), name]));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value as Record<string, unknown>).flatMap(([given, each]) => {
      const name = known.get(foldCase(given));
      return name !== undefined && each === null ? [] : [[name ?? given, each] as const];
    });
    return Object.fromEntries(entries);
  };
}

/** Go also takes ſ for s, and the sign of Kelvin for k. */
export const foldCase = (text: string): string => text.toUpperCase().toLowerCase();

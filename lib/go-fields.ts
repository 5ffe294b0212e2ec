/**
 * Reads JSON objects as Go's encoding/json reads them into a struct: names in any letter case, and
 * null as an absent value. Multus, the CNI plugins and Kube-OVN read annotations and configurations
 * that way, so a program that compares names exactly would see something else.
 *
 * Source: https://pkg.go.dev/encoding/json#Unmarshal
 */

/**
 * Returns a function that renames the fields of an object to `names`. It removes fields that are
 * null, and takes the last of several values of a field. Other fields, and values that are not
 * objects, stay as they are.
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

/** Compares letters as Go does, which also equates ſ with s and the Kelvin sign with k. */
export const foldCase = (text: string): string => text.toUpperCase().toLowerCase();

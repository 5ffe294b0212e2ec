/**
 * Names of JSON fields as Go's encoding/json matches them, in any letter case. Multus and Kube-OVN read annotations with it, so a program
 * that compares exactly would not see what they see.
 */

/** @returns a function: the object with these names for its fields; of several names of one field the last counts. Other values unchanged. */
export function goFieldNames(names: readonly string[]): (value: unknown) => unknown {
  const known = new Map(names.map((name) => [foldCase(name), name]));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries = Object.entries(value as Record<string, unknown>);
    return Object.fromEntries(entries.map(([name, each]) => [known.get(foldCase(name)) ?? name, each]));
  };
}

/** Go also takes ſ for s, and the sign of Kelvin for k. */
const foldCase = (text: string): string => text.toUpperCase().toLowerCase();

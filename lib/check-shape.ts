/**
 * Checks the shape of a value from outside with zod, and never throws. For a limit, zod compares
 * the `length` of any value that has one: `{"length": {"toString": 1}}` has no value to compare.
 */
import * as z from 'zod';

/** Returns the parsed value, or the issues. */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(value);
  } catch {
    return z.never({ error: 'an object is in place of a text or a list' }).safeParse(value);
  }
}

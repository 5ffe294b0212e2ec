/**
 * The form of stored values. Another program may have written them, and a field of another type
 * would fail later: in a decision about other addresses, or with half of an event applied.
 */

/** `number`: a whole number of at least 0. A list has the form of its items. */
type ShapeOf<Value> = Value extends string
  ? 'text'
  : Value extends number
    ? 'number'
    : Value extends boolean
      ? 'flag'
      : Value extends readonly (infer Item)[]
        ? readonly [ShapeOf<Item>]
        : Shape<Value>;

/** The form of each field. It follows the type: a missing field does not compile. */
export type Shape<Value> = {
  readonly [Field in keyof Value]-?: Record<never, never> extends Pick<Value, Field>
    ? { readonly optional: ShapeOf<NonNullable<Value[Field]>> }
    : ShapeOf<Value[Field]>;
};

/** Returns what is wrong with a value: the path of a field and its fault; undefined for nothing. */
export type FindFault = (value: unknown) => string | undefined;

type AnyShape = string | readonly [AnyShape] | { readonly [field: string]: AnyShape };

/** Makes the check of a form. Unknown fields are allowed: later versions add some. */
export const faultFinder = <Value>(shape: Shape<Value>): FindFault => finderOf(shape);

function finderOf(shape: AnyShape): FindFault {
  if (shape === 'text') return (value) => (typeof value === 'string' ? undefined : ' is not a text');
  if (shape === 'flag') return (value) => (typeof value === 'boolean' ? undefined : ' is not true or false');
  if (shape === 'number')
    return (value) => (Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : ' is not a whole number');
  return isList(shape) ? listFinder(finderOf(shape[0])) : objectFinder(shape as { readonly [field: string]: AnyShape });
}

const isList = (shape: AnyShape): shape is readonly [AnyShape] => Array.isArray(shape);

function listFinder(find: FindFault): FindFault {
  return (value) => {
    if (!Array.isArray(value)) return ' is not a list';
    for (let index = 0; index < value.length; index++) {
      const fault = find(value[index]);
      if (fault !== undefined) return `.${index}${fault}`;
    }
    return undefined;
  };
}

function objectFinder(shape: { readonly [field: string]: AnyShape }): FindFault {
  const fields = Object.entries(shape).map(([field, form]) => {
    const optional = typeof form === 'object' && !isList(form) ? form['optional'] : undefined;
    return { field, find: finderOf(optional ?? form), isOptional: optional !== undefined };
  });
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return ' is not an object';
    for (const { field, find, isOptional } of fields) {
      const found = (value as Record<string, unknown>)[field];
      if (isOptional && found === undefined) continue;
      const fault = find(found);
      if (fault !== undefined) return `.${field}${fault}`;
    }
    return undefined;
  };
}

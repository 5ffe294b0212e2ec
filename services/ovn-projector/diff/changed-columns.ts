/** Compares the columns of a row with the desired ones. Pure. */
import { areEqual, type NewRow, type NewValue, type Row, textMap, type Value } from '../../../lib/ovsdb/values.ts';

export interface RowContent {
  readonly columns: NewRow;
  readonly externalIds: ReadonlyMap<string, string>;
}

/** Whether a value refers to a row that the same transaction inserts. */
const isNew = (value: NewValue): boolean => typeof value === 'object' && 'uuidName' in value;

/**
 * Returns the columns to write; undefined if there are none. Keeps entries of `external_ids` that
 * the projector does not set: operators' tools mark rows with them.
 */
export function changedColumns(present: Row, { columns, externalIds }: RowContent): NewRow | undefined {
  const changed: [string, NewValue][] = Object.entries(columns).filter(
    ([column, value]) => isNew(value) || !areEqual(present[column], value as Value),
  );
  const ids = present['external_ids'];
  const merged = new Map([...textMap(ids), ...externalIds]);
  if (!areEqual(ids, merged)) changed.push(['external_ids', merged]);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

/** The columns of a row that differ from what they should be. Pure. */
import { areEqual, type NewRow, type Row, textMap, type Value } from '../../../lib/ovsdb/values.ts';
import type { DesiredPort } from '../rows/desired-row.ts';

/**
 * Returns the columns to write; undefined if there is none. An entry of `external_ids` that the projector does not set stays: tools of
 * operators mark rows with it.
 */
export function changedColumns(
  present: Row,
  { columns, externalIds }: Pick<DesiredPort, 'columns' | 'externalIds'>,
): NewRow | undefined {
  const changed: [string, Value][] = Object.entries(columns).filter(
    ([column, value]) => !areEqual(present[column], value),
  );
  const ids = present['external_ids'];
  const merged = new Map([...textMap(ids), ...externalIds]);
  if (!areEqual(ids, merged)) changed.push(['external_ids', merged]);
  return changed.length === 0 ? undefined : Object.fromEntries(changed);
}

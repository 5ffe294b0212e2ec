/** The cells of a page as rows of a table: neighbours of the same state share a row. */
import { type CellState, cellStates } from '../../api/address-map.ts';
import type { Page } from './page.ts';

export interface Run {
  readonly first: string;
  readonly last: string;
  readonly state: CellState;
  readonly count: number;
}

/** Returns the runs of addresses of a page that are not free. */
export function runsOf(page: Page): Run[] {
  const runs: Run[] = [];
  for (let start = 0; start < page.count;) {
    const state = page.parts[start] ?? 0;
    const first = page.cell(start);
    let end = start + 1;
    while (end < page.count && page.parts[end] === state && page.cell(end).first === first.first + BigInt(end - start))
      end++;
    if (state !== 0)
      runs.push({
        first: first.name,
        last: page.cell(end - 1).name,
        state: cellStates[state] ?? 'free',
        count: end - start,
      });
    start = end;
  }
  return runs;
}

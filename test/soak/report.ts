/** The report of a soak: a table of what grows, and the leaks. */
import { formatTextTable } from '../../cli/output/table.ts';
import { type Judgement, minHours, programOf, type Verdict } from './judgement.ts';

const header = ['PROGRAM', 'QUANTITY', 'SERIES', 'EARLY', 'LATE', 'GROWTH', 'LIMIT', 'PER POD', ''];

/** @param leftovers one sentence for each thing that is left after all Pods were deleted */
export function formatReport({ verdicts, unjudged }: Judgement, leftovers: readonly string[]): string {
  const kinds = Map.groupBy(verdicts, (verdict) => `${programOf(verdict)} ${verdict.quantity}`);
  const leaks = verdicts.filter(({ isLeak }) => isLeak);
  return [
    formatTextTable(header, [...kinds.values()].map(formatRow)),
    ...leaks.map(
      ({ subject, quantity, growth, limit }) =>
        `LEAK: ${quantity} of ${subject} grows by ${formatNumber(growth)}, accepted are ${formatNumber(limit)}`,
    ),
    ...(unjudged.length === 0 ? [] : [`NOT JUDGED, because no process has ${minHours} hours: ${unjudged.join(', ')}`]),
    ...leftovers.map((each) => `LEFT: ${each}`),
  ].join('\n');
}

/** One row for all programs of a kind: that of the one that comes nearest to its limit. */
function formatRow(group: readonly Verdict[]): string[] {
  const worst = group.reduce((one, other) => (other.growth - other.limit > one.growth - one.limit ? other : one));
  const { quantity, early, late, growth, limit, pods, isLeak } = worst;
  const figures = [early, late, growth, limit, growth / pods].map(formatNumber);
  return [programOf(worst), quantity, String(group.length), ...figures, isLeak ? 'LEAK' : ''];
}

const formatNumber = (value: number): string =>
  Math.abs(value) < 100 ? value.toFixed(2).replace(/\.?0+$/, '') : Math.round(value).toLocaleString('en');

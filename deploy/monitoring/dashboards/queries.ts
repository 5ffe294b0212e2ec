/** Queries that several dashboards use. */
import type { Query } from './dashboard.ts';

const interval = '$__rate_interval';

/** Returns the increase per second, summed by some labels. */
export const rateBy = (labels: string, series: string): string => `sum by (${labels}) (rate(${series}[${interval}]))`;

/** Returns the increase in an interval that includes several scrapes. */
export const increaseOf = (series: string): string => `increase(${series}[${interval}])`;

/**
 * Returns the median and the 99th percentile of a histogram.
 * @param metric without `_bucket`
 * @param selector labels in braces, or ''
 */
export function quantiles(metric: string, selector = ''): readonly Query[] {
  return [0.5, 0.99].map((share) => ({
    expression: `histogram_quantile(${share}, ${rateBy('le', `${metric}_bucket${selector}`)})`,
    legend: share === 0.5 ? 'median' : '99 %',
  }));
}

/** Queries that several dashboards use. */
import type { Query } from './dashboard.ts';

const interval = '$__rate_interval';

/** Increase per second, as the sum by some labels. */
export const rateBy = (labels: string, series: string): string => `sum by (${labels}) (rate(${series}[${interval}]))`;

/** Increase in a scrape-safe interval. */
export const increaseOf = (series: string): string => `increase(${series}[${interval}])`;

/**
 * Median and 99th percentile of a histogram.
 *
 * @param metric without `_bucket`
 * @param selector labels in braces, or ''
 */
export function quantiles(metric: string, selector = ''): readonly Query[] {
  return [0.5, 0.99].map((share) => ({
    expression: `histogram_quantile(${share}, ${rateBy('le', `${metric}_bucket${selector}`)})`,
    legend: share === 0.5 ? 'median' : '99 %',
  }));
}

/** A case for an alert. */
export interface AlertSeries {
  readonly series: string;
  readonly before: number;
  /** The later values: a number, `stale` for the series' end, or text in promtool's notation. */
  readonly after: number | string;
}

export interface AlertCase {
  readonly alert: string;
  readonly when: string;
  readonly series: readonly AlertSeries[];
  /** Labels of the alert, without alertname and severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly summary: string;
  /** Minutes from the change of the series until the condition holds. */
  readonly delayMinutes?: number;
}

/** Makes a series whose values do not change. */
export const steady = (series: string, value: number): AlertSeries => ({ series, before: value, after: value });

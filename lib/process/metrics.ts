/**
 * Metrics in Prometheus' text format. Each program has its own registry, which its health server serves at /metrics.
 * docs/metrics.md lists all metrics.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export { Counter, Histogram, type Registry } from 'prom-client';

/** One value of a gauge, with its labels. */
export interface Reading {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Called at each scrape; must not throw. A series without a reading is removed. */
  readonly read: () => readonly Reading[] | Promise<readonly Reading[]>;
}

/** A registry with the default metrics of a Node process: processor time, memory, event loop lag. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Adds a gauge that is read at each scrape. */
export function addGauge(registry: Registry, { name, help, labels = [], read }: GaugeOptions): void {
  const added = new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect() {
      const readings = await read();
      added.reset();
      if (labels.length === 0) added.remove(); // `reset` gives such a gauge the value 0
      for (const { labels: of = {}, value } of readings) added.set(of, value);
    },
  });
}

/** A claim as a reading: 1 for true, 0 for false. */
export const booleanReading = (isTrue: boolean): readonly Reading[] => [{ value: isTrue ? 1 : 0 }];

/**
 * Metrics in Prometheus' text format. Each program has its own registry, which its health server
 * serves at /metrics. See docs/metrics.md for all metrics.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { version } from './version.ts';

export { Counter, Histogram, type Registry } from 'prom-client';

/** A value of a gauge with its labels. */
export interface Reading {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A value without labels (true counts as 1), or a value for each label; undefined for none. */
export type Readings = number | boolean | undefined | Readonly<Record<string, number>> | readonly Reading[];

export interface GaugeOptions {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Called at each scrape. It must not throw. A series without a reading is removed. */
  readonly read: () => Readings | Promise<Readings>;
}

/**
 * A registry with Node's default metrics (processor time, memory, event loop lag), and the program
 * with its version.
 */
export function createRegistry(program: string): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const labels = { program, version };
  addGauge(registry, {
    name: 'ipledger_build_info',
    help: 'Always 1; the labels are the program and its version.',
    labels: Object.keys(labels),
    read: () => [{ labels, value: 1 }],
  });
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
      const readings = readingsOf(await read(), labels);
      added.reset();
      if (labels.length === 0) added.remove(); // `reset` sets a gauge without labels to 0
      for (const { labels: of = {}, value } of readings) added.set(of, value);
    },
  });
}

function readingsOf(read: Readings, [label = '']: readonly string[]): readonly Reading[] {
  if (read === undefined) return [];
  if (typeof read !== 'object') return [{ value: Number(read) }];
  if (Array.isArray(read)) return read as readonly Reading[];
  return Object.entries(read as Readonly<Record<string, number>>).map(([name, value]) => ({
    labels: { [label]: name },
    value,
  }));
}

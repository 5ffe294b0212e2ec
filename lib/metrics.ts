/**
 * Metrics in Prometheus' text format. Each program has a registry of its own, which its health listener serves at /metrics;
 * docs/metrics.md lists what they say.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export { Counter, Histogram, type Registry } from 'prom-client';

/** One value of a gauge, with its labels. */
export interface Reading {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Gauged {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Asked at each scrape; must not throw. What it leaves out is not said any more. */
  readonly read: () => readonly Reading[] | Promise<readonly Reading[]>;
}

/** A registry with what every Node process tells of itself: processor time, memory, event loop lag. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Adds a gauge that is read when somebody looks. */
export function gauge(registry: Registry, { name, help, labels = [], read }: Gauged): void {
  const added = new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect() {
      const readings = await read();
      added.reset();
      for (const { labels: of = {}, value } of readings) added.set(of, value);
    },
  });
}

/** Whether something is so, as a gauge says it. */
export const yes = (is: boolean): readonly Reading[] => [{ value: is ? 1 : 0 }];

/** The metrics of the data path; docs/metrics.md describes them. */
import { addGauge, Counter, Histogram, type Registry } from '../../../lib/process/metrics.ts';
import { type FailureReason, failureReasons } from './data-path-error.ts';

/** The steps of an ADD, in their order. */
export const steps = ['veth', 'port', 'installed', 'inside'] as const;
export type Step = (typeof steps)[number];

export interface DataPathMetrics {
  /** Runs a step, and records its duration if it succeeds. */
  time(step: Step, work: () => Promise<void>): Promise<void>;
  /** Counts an ADD that failed. */
  failed(reason: FailureReason): void;
}

const buckets = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2.5, 5, 10, 20];

/**
 * Adds the metrics to a registry.
 * @param countPorts the OVS ports that the agent owns
 */
export function createDataPathMetrics(registry: Registry, countPorts: () => number): DataPathMetrics {
  addGauge(registry, {
    name: 'ipledger_ovs_ports',
    help: 'OVS ports of NICs of type kube-ovn on this node.',
    read: countPorts,
  });
  const seconds = new Histogram({
    name: 'ipledger_data_path_seconds',
    help: 'Seconds of each step of an ADD that makes a NIC of type kube-ovn.',
    labelNames: ['step'],
    buckets,
    registers: [registry],
  });
  const failures = new Counter({
    name: 'ipledger_data_path_failures_total',
    help: 'ADDs of type kube-ovn without a NIC, by the part that failed.',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of failureReasons) failures.inc({ reason }, 0);
  for (const step of steps) seconds.zero({ step });
  return {
    async time(step, work) {
      const stop = seconds.startTimer({ step });
      await work();
      stop();
    },
    failed: (reason) => failures.inc({ reason }),
  };
}

/** The metrics of a pod-watcher. docs/metrics.md describes each. */
import { createRegistry, addGauge, type Registry } from '../../lib/process/metrics.ts';
import { certificateGauges } from '../../lib/tls/certificate-reloader.ts';
import type { WatcherStats } from './active-watcher.ts';

/** @param stats those of the active watcher; undefined while this watcher is a standby */
export function watcherMetrics(stats: () => WatcherStats | undefined): Registry {
  const registry = createRegistry('pod-watcher');
  for (const gauge of certificateGauges) addGauge(registry, gauge);
  addGauge(registry, {
    name: 'ipledger_watcher_active',
    help: '1 on the active watcher, 0 on a standby.',
    read: () => stats() !== undefined,
  });
  addGauge(registry, {
    name: 'ipledger_watch_silence_seconds',
    help: 'Time since the last data of an informer, or of the ledger.',
    labels: ['source'],
    read: () => Object.fromEntries((stats()?.inputs ?? []).map(({ name, silentMs }) => [name, silentMs / 1_000])),
  });
  addGauge(registry, {
    name: 'ipledger_projected_seq',
    help: 'The last ledger event that the projection contains.',
    read: () => stats()?.projectedSeq,
  });
  addGauge(registry, {
    name: 'ipledger_waiting_pods',
    help: 'Pods that wait for an address.',
    read: () => stats()?.waitingPods,
  });
  addGauge(registry, {
    name: 'ipledger_releases_halted',
    help: 'Pods or Nodes missing in a mass deletion, while it halts releases.',
    labels: ['kind'],
    read: () => stats()?.missing,
  });
  addGauge(registry, {
    name: 'ipledger_alarms',
    help: 'Active alarms. /readyz shows their messages.',
    read: () => stats()?.alarms,
  });
  addGauge(registry, {
    name: 'ipledger_suspended_subnets',
    help: 'Subnets in force that give no new address, because Kube-OVN may give the same.',
    read: () => stats()?.suspendedSubnets,
  });
  return registry;
}

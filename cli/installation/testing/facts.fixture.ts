/** The facts of a healthy installation. */
import { version } from '../../../lib/process/version.ts';
import type { Facts, Program } from '../facts.ts';

export const gatheredAt = '2026-01-31T08:00:00.000Z';

/** A program that is ready, with values of metrics without labels. */
export const programOf = (
  component: string,
  values: Readonly<Record<string, number>> = {},
  more: Partial<Program> = {},
): Program => ({
  component,
  name: `${component}-0`,
  node: 'node-1',
  isReady: true,
  version,
  image: 'ipledger',
  settings: {},
  samples: Object.entries(values).map(([name, value]) => ({ name, labels: {}, value })),
  ...more,
});

const workload = { kind: 'DaemonSet', desired: 2, ready: 2, updated: 2 };
export const multus = { ...workload, namespace: 'kube-system', name: 'kube-multus-ds' };
export const agents = { ...workload, namespace: 'ipledger-system', name: 'ipledger-node-agent' };

export const healthyFacts = {
  format: 1 as const,
  gatheredAt,
  version,
  namespace: 'ipledger-system',
  skipped: [],
  gaps: [],
  status: {
    ledger: 'ledger-1',
    seq: 42,
    ledgerTime: gatheredAt,
    storage: { usedBytes: 1, quotaBytes: 100 },
  },
  replicas: [{ endpoint: 'allocator-0:7411', failure: '' }],
  checkpoints: { isSigned: true, newestAt: '2026-01-31T07:58:00.000Z' },
  comparison: { disagreements: [], leftOut: 0, pods: 3, bindings: 3 },
  programs: [
    programOf('allocator', { ipledger_is_leader: 1 }),
    programOf('node-agent', { ipledger_plugin_current: 1 }, { settings: { IPLEDGER_SOCKETS: '/run/agent.sock' } }),
  ],
  workloads: [multus, agents],
  definitions: [{ name: 'subnets.kubeovn.io', isEstablished: true }],
  permissions: [{ role: 'ClusterRole ipledger-pod-watcher', missing: [] }],
  networks: [
    { key: 'default/lan', provider: 'lan.default', configuredProvider: 'lan.default', socket: '/run/agent.sock' },
  ],
  subnets: [{ name: 'lan', provider: 'lan.default', conditions: [] }],
  leases: [{ name: 'ipledger-pod-watcher', holder: 'watcher-0' }],
  backup: { scheduledAt: '2026-01-31T07:07:00Z', succeededAt: '2026-01-31T07:07:20Z', isSuspended: false },
} satisfies Facts;

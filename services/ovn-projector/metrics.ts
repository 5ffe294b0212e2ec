/** The metrics of an ovn-projector. docs/metrics.md describes each. */
import { addGauge, Counter, createRegistry, Histogram, type Registry } from '../../lib/process/metrics.ts';
import { certificateGauges } from '../../lib/tls/certificate-reloader.ts';
import { type Problem, type ProblemKind, problemKinds } from './rows/problem.ts';
import type { TransactionOutcome } from './projector.ts';

/** The state of an active projector. */
export interface ProjectorStats {
  /** Sequence number of the last event that the desired rows contain. */
  readonly appliedSeq: number;
  /** Whether it is connected to the northbound database. */
  readonly isConnected: boolean;
  /** NIC ports: how many should exist, how many exist, and how many no node has connected. */
  readonly ports: { readonly desired: number; readonly present: number; readonly down: number };
  readonly conflicts: number;
  readonly problems: readonly Problem[];
}

export interface ProjectorMetrics {
  readonly registry: Registry;
  /** Records a transaction. */
  readonly onTransaction: (outcome: TransactionOutcome, seconds: number) => void;
}

/** @param stats of the active projector; undefined while this one is a standby */
export function projectorMetrics(stats: () => ProjectorStats | undefined): ProjectorMetrics {
  const registry = createRegistry('ovn-projector');
  for (const gauge of certificateGauges) addGauge(registry, gauge);
  addGauge(registry, {
    name: 'ipledger_ovn_projector_active',
    help: '1 on the active projector, 0 on a standby.',
    read: () => stats() !== undefined,
  });
  addGauge(registry, {
    name: 'ipledger_ovn_applied_seq',
    help: 'The last ledger event that the projection contains.',
    read: () => stats()?.appliedSeq,
  });
  addGauge(registry, {
    name: 'ipledger_ovn_northbound_connected',
    help: '1 while the active projector is connected to the northbound database.',
    read: () => stats()?.isConnected,
  });
  addGauge(registry, {
    name: 'ipledger_ovn_ports',
    help: 'Ports of NICs that should exist, that exist, and that are not up although a container has them.',
    labels: ['state'],
    read: () => stats()?.ports,
  });
  addGauge(registry, {
    name: 'ipledger_ovn_conflicts',
    help: 'Rows of other owners that are in the way.',
    read: () => stats()?.conflicts,
  });
  addGauge(registry, {
    name: 'ipledger_ovn_unserved',
    help: 'Requests of Kubernetes objects that are not in the northbound database.',
    labels: ['kind'],
    read: () => {
      const problems = stats()?.problems;
      const countOf = (kind: ProblemKind) => problems?.filter((each) => each.kind === kind).length ?? 0;
      return problems && Object.fromEntries(problemKinds.map((kind) => [kind, countOf(kind)]));
    },
  });
  const transactions = new Counter({
    name: 'ipledger_ovn_transactions_total',
    help: 'Transactions on the northbound database.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'ipledger_ovn_transaction_seconds',
    help: 'Duration of a transaction on the northbound database.',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30],
    registers: [registry],
  });
  return {
    registry,
    onTransaction: (outcome, seconds) => {
      transactions.inc({ outcome });
      duration.observe(seconds);
    },
  };
}

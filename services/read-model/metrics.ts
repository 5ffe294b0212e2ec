/** The Prometheus metrics of the read model. docs/metrics.md describes each. */
import { createRegistry, addGauge, type Registry } from '../../lib/process/metrics.ts';
import { certificateGauges } from '../../lib/tls/certificate-reloader.ts';
import { handshakeGauge } from '../../lib/tls/handshake-limits.ts';
import type { ReadModel } from './read-model.ts';

export function readModelMetrics(model: Pick<ReadModel, 'position' | 'notReadyReason'>): Registry {
  const registry = createRegistry('read-model');
  for (const gauge of [...certificateGauges, handshakeGauge]) addGauge(registry, gauge);
  addGauge(registry, {
    name: 'ipledger_read_model_seq',
    help: 'The last event in the read model.',
    read: () => model.position.seq,
  });
  addGauge(registry, {
    name: 'ipledger_read_model_caught_up',
    help: 'Whether the read model has caught up with the ledger since its start.',
    read: () => model.notReadyReason === undefined,
  });
  return registry;
}

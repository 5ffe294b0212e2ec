/** What the read model counts. docs/metrics.md says what each is good for. */
import { createRegistry, gauge, type Registry, yes } from '../../lib/metrics.ts';
import type { Model } from './model.ts';

/** Makes them. */
export function indexMetrics(model: Pick<Model, 'position' | 'objection'>): Registry {
  const registry = createRegistry();
  gauge(registry, {
    name: 'ipledger_index_seq',
    help: 'The last event that the read model knows.',
    read: () => [{ value: model.position.seq }],
  });
  gauge(registry, {
    name: 'ipledger_index_complete',
    help: 'Whether it has caught up with the ledger since it started.',
    read: () => yes(model.objection === undefined),
  });
  return registry;
}

/** What a pod-watcher counts. docs/metrics.md says what each is good for. */
import { createRegistry, gauge, type Reading, type Registry, yes } from '../../lib/metrics.ts';
import type { Figures } from './watch.ts';

/** Makes them. @param figures of the active watcher; undefined while this one stands by. */
export function watcherMetrics(figures: () => Figures | undefined): Registry {
  const registry = createRegistry();
  const one = (of: (all: Figures) => number) => (): readonly Reading[] => {
    const all = figures();
    return all ? [{ value: of(all) }] : [];
  };
  gauge(registry, {
    name: 'ipledger_watcher_active',
    help: 'Whether this watcher is the active one.',
    read: () => yes(figures() !== undefined),
  });
  gauge(registry, {
    name: 'ipledger_watch_silence_seconds',
    help: 'How long nothing was heard of a kind of objects, or of the ledger.',
    labels: ['source'],
    read: () =>
      (figures()?.heard ?? []).map(({ name, silentMs }) => ({ labels: { source: name }, value: silentMs / 1_000 })),
  });
  gauge(registry, {
    name: 'ipledger_shown_seq',
    help: 'The last event of the ledger that this watcher has taken in.',
    read: one(({ seq }) => seq),
  });
  gauge(registry, {
    name: 'ipledger_waiting_pods',
    help: 'Pods that asked for addresses and cannot have them yet.',
    read: one(({ waiting }) => waiting),
  });
  gauge(registry, {
    name: 'ipledger_releases_halted',
    help: 'Pods or Nodes that vanished at once, and for which all releases are halted.',
    labels: ['kind'],
    read: () => Object.entries(figures()?.vanished ?? {}).map(([kind, count]) => ({ labels: { kind }, value: count })),
  });
  gauge(registry, {
    name: 'ipledger_alarms',
    help: 'What somebody must decide; /readyz says what it is.',
    read: one(({ alarms }) => alarms),
  });
  return registry;
}

/** The node agent's metrics; docs/metrics.md describes them. */
import { IpledgerError } from '../../lib/errors.ts';
import { addGauge, Counter, createRegistry, Histogram, type Registry } from '../../lib/process/metrics.ts';
import { certificateGauges } from '../../lib/tls/certificate-reloader.ts';
import type { RequestHandler } from './daemon/daemon-server.ts';
import type { NamespaceState } from './network-namespace.ts';
import { type ConflictOutcome, conflictOutcomes } from './requests/report-conflict.ts';
import type { UnderlayStatus } from './underlay/keep-underlay.ts';

export interface AgentMetrics {
  readonly registry: Registry;
  /** Counts a conflict on the wire. */
  readonly onConflict: (outcome: ConflictOutcome) => void;
  /** Wraps a request handler: counts and times its requests. */
  instrument(handleRequest: RequestHandler): RequestHandler;
}

/** Buckets in seconds: Kube-OVN's up to 0.512, then more up to the longest ADD. */
const buckets = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2.5, 5, 10, 20];

/** The sources of the gauges. A reading is undefined while it is not known. */
export interface AgentReadings {
  readonly underlay?: () => UnderlayStatus | undefined;
  readonly sandboxes?: () => Readonly<Record<NamespaceState, number>> | undefined;
  readonly isPluginCurrent?: () => Promise<boolean | undefined>;
}

/** @param node the node's name */
export function createAgentMetrics(
  node: string,
  { underlay, sandboxes, isPluginCurrent }: AgentReadings = {},
): AgentMetrics {
  const registry = createRegistry('node-agent');
  for (const gauge of certificateGauges) addGauge(registry, gauge);
  addGauge(registry, {
    name: 'ipledger_provider_networks',
    help: 'Physical networks that this node serves, and those that it should serve and cannot.',
    labels: ['state'],
    read: () => ({ ...underlay?.() }),
  });
  addGauge(registry, {
    name: 'ipledger_bindings',
    help: 'Bindings of this node, by whether their sandbox exists. unknown: the agent does not see its network namespace.',
    labels: ['sandbox'],
    read: () => sandboxes?.(),
  });
  addGauge(registry, {
    name: 'ipledger_plugin_current',
    help: 'Whether the CNI plugin in the folder of the node is the file of this agent.',
    read: () => isPluginCurrent?.(),
  });
  const requests = new Counter({
    name: 'ipledger_cni_requests_total',
    help: 'Requests of the CNI plugin, by verb and error code; OK for those that succeeded.',
    labelNames: ['verb', 'code'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'cni_op_latency_seconds',
    help: 'Seconds until the plugin had its response. The name is that of Kube-OVN.',
    labelNames: ['node_name', 'method', 'status_code'],
    buckets,
    registers: [registry],
  });
  const conflicts = new Counter({
    name: 'ipledger_address_conflicts_total',
    help: 'Probes that found another host on an address, by whether the allocator quarantined the address.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of conflictOutcomes) conflicts.inc({ outcome }, 0);
  return {
    registry,
    onConflict: (outcome) => conflicts.inc({ outcome }),
    instrument: (handleRequest) => async (pluginRequest, signal) => {
      const { verb } = pluginRequest;
      const stopTimer = seconds.startTimer({ node_name: node, method: `/api/v1/${verb}` });
      try {
        const body = await handleRequest(pluginRequest, signal);
        requests.inc({ verb, code: 'OK' });
        stopTimer({ status_code: body === '' ? '204' : '200' });
        return body;
      } catch (thrown) {
        const error = IpledgerError.from(thrown);
        requests.inc({ verb, code: signal.aborted ? 'CANCELLED' : error.code });
        stopTimer({ status_code: String(error.httpStatus) });
        throw thrown;
      }
    },
  };
}

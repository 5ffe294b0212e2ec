/** What a node agent counts. docs/metrics.md says what each is good for. */
import { IpledgerError } from '../../lib/errors.ts';
import { Counter, createRegistry, Histogram, type Registry } from '../../lib/metrics.ts';
import type { Serve } from './api.ts';

export interface AgentMetrics {
  readonly registry: Registry;
  /** The same, counted. */
  counted(serve: Serve): Serve;
}

/** Makes them. */
export function agentMetrics(): AgentMetrics {
  const registry = createRegistry();
  const requests = new Counter({
    name: 'ipledger_cni_requests_total',
    help: 'Requests of the CNI plugin, by verb and error code; OK for those that succeeded.',
    labelNames: ['verb', 'code'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'ipledger_cni_request_seconds',
    help: 'How long the plugin waited for its answer.',
    labelNames: ['verb'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers: [registry],
  });
  return {
    registry,
    counted: (serve) => async (asked, signal) => {
      const { verb } = asked;
      const done = seconds.startTimer({ verb });
      try {
        const answer = await serve(asked, signal);
        requests.inc({ verb, code: 'OK' });
        return answer;
      } catch (error) {
        requests.inc({ verb, code: signal.aborted ? 'CANCELLED' : IpledgerError.from(error).code });
        throw error;
      } finally {
        done();
      }
    },
  };
}

/** What a node agent counts. docs/metrics.md says what each is good for. */
import { IpledgerError } from '../../lib/errors.ts';
import { Counter, createRegistry, Histogram, type Registry } from '../../lib/metrics.ts';
import type { Serve } from './api.ts';

export interface AgentMetrics {
  readonly registry: Registry;
  /** The same, counted. */
  counted(serve: Serve): Serve;
}

/** Kube-OVN's steps, from a millisecond to half a second, and on to what an ADD may wait. */
const buckets = [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1, 2.5, 5, 10, 20];

/** Makes them. @param node the node's name. */
export function agentMetrics(node: string): AgentMetrics {
  const registry = createRegistry();
  const requests = new Counter({
    name: 'ipledger_cni_requests_total',
    help: 'Requests of the CNI plugin, by verb and error code; OK for those that succeeded.',
    labelNames: ['verb', 'code'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'cni_op_latency_seconds',
    help: 'How long the plugin waited for its answer, under the name that Kube-OVN has for it.',
    labelNames: ['node_name', 'method', 'status_code'],
    buckets,
    registers: [registry],
  });
  return {
    registry,
    counted: (serve) => async (asked, signal) => {
      const { verb } = asked;
      const done = seconds.startTimer({ node_name: node, method: `/api/v1/${verb}` });
      try {
        const answer = await serve(asked, signal);
        requests.inc({ verb, code: 'OK' });
        done({ status_code: answer === '' ? '204' : '200' });
        return answer;
      } catch (thrown) {
        const error = IpledgerError.from(thrown);
        requests.inc({ verb, code: signal.aborted ? 'CANCELLED' : error.code });
        done({ status_code: String(error.httpStatus) });
        throw thrown;
      }
    },
  };
}

import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { createAgentMetrics } from './metrics.ts';

const status = { verb: 'status', cniType: '' } as const;

describe('Agent metrics', () => {
  it('Agent metrics count requests by outcome, and leave the outcome unchanged', async () => {
    const { registry, instrument } = createAgentMetrics('node-1');
    const disconnected = AbortSignal.abort();
    const connected = new AbortController().signal;
    const full = new IpledgerError('SUBNET_FULL', 'no address is left');
    expect(await instrument(() => Promise.resolve('body'))(status, connected)).to.equal('body');
    for (const signal of [connected, disconnected]) {
      const error: unknown = await instrument(() => Promise.reject(full))(status, signal).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.equal(full);
    }
    const counts = await registry.getSingleMetricAsString('ipledger_cni_requests_total');
    for (const code of ['OK', 'SUBNET_FULL', 'CANCELLED'])
      expect(counts).to.contain(`{verb="status",code="${code}"} 1`);
    const latencies = await registry.getSingleMetricAsString('cni_op_latency_seconds');
    const ofStatus = 'cni_op_latency_seconds_count{node_name="node-1",method="/api/v1/status",status_code=';
    expect(latencies).to.contain(`${ofStatus}"200"} 1`).and.contain(`${ofStatus}"500"} 2`);
  });
});

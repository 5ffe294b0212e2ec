import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import { agentMetrics } from './metrics.ts';

const status = { verb: 'status' } as const;

describe("the agent's metrics", () => {
  it('count requests by what came of them, and change none', async () => {
    const { registry, counted } = agentMetrics('node-1');
    const gone = AbortSignal.abort();
    const here = new AbortController().signal;
    const full = new IpledgerError('SUBNET_FULL', 'no address is left');
    expect(await counted(() => Promise.resolve('answer'))(status, here)).to.equal('answer');
    for (const signal of [here, gone]) {
      const refused: unknown = await counted(() => Promise.reject(full))(status, signal).catch(
        (error: unknown) => error,
      );
      expect(refused).to.equal(full);
    }
    const said = await registry.getSingleMetricAsString('ipledger_cni_requests_total');
    for (const code of ['OK', 'SUBNET_FULL', 'CANCELLED']) expect(said).to.contain(`{verb="status",code="${code}"} 1`);
    const timed = await registry.getSingleMetricAsString('cni_op_latency_seconds');
    const ofStatus = 'cni_op_latency_seconds_count{node_name="node-1",method="/api/v1/status",status_code=';
    expect(timed).to.contain(`${ofStatus}"200"} 1`).and.contain(`${ofStatus}"500"} 2`);
  });
});

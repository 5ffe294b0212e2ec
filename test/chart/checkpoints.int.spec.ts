/** The chart's checkpoint file, with which an allocator compares the ledger at its start. */
import { expect } from 'chai';
import { containersOf, parseManifests, podSpecOf, renderChart } from './render-chart.ts';

describe('The chart with allocator.checkpointSecret', () => {
  it('The chart with allocator.checkpointSecret mounts the ConfigMap of the pod-watcher as the checkpoint file of the allocators, also before it exists', async () => {
    const text = await renderChart([], ['--set=allocator.checkpointSecret=key']);
    const allocator = parseManifests(text).find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'ipledger-allocator',
    );
    const pod = allocator && podSpecOf(allocator);
    const env = pod && containersOf(pod).flatMap(({ env: variables = [] }) => variables);
    expect(env?.filter(({ name }) => name.startsWith('IPLEDGER_CHECKPOINT'))).to.deep.equal([
      { name: 'IPLEDGER_CHECKPOINT_KEY', value: '/checkpoint/checkpoint.key' },
      { name: 'IPLEDGER_CHECKPOINT_FILE', value: '/checkpoints' },
    ]);
    expect(JSON.stringify(pod)).to.contain('{"name":"checkpoints","mountPath":"/checkpoints","readOnly":true}');
    expect(JSON.stringify(pod)).to.contain(
      '{"name":"checkpoints","configMap":{"name":"ipledger-checkpoints","optional":true}}',
    );
    expect(await renderChart([])).to.not.contain('IPLEDGER_CHECKPOINT');
  });
});

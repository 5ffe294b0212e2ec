import { KubeConfig } from '@kubernetes/client-node';
import { connectApi } from '../../../lib/kubernetes/client/kubernetes-api.ts';
import { borrowCluster } from '../../harness/kubernetes/shared-cluster.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { apiServerContract } from './testing/api-server.contract.ts';

describe('The real API server', function () {
  this.timeout(120_000);
  let run: Run;
  before(() => (run = openRun()));
  after(() => run.end());

  apiServerContract(async () => {
    const { kubeconfig } = await borrowCluster(run, { controllers: false });
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    return connectApi(config);
  });
});

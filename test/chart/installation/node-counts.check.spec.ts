/**
 * `make e2e-chart`: the chart on one node with Helm 3, and on two with Helm 4, by the commands of
 * docs/install.md.
 */
import { expect } from 'chai';
import type { Worker } from '../../harness/node/worker.ts';
import { probeNodeSupport } from '../../harness/node/node-support.ts';
import { openRun, type Run } from '../../harness/run.ts';
import { namespace } from '../render-chart.ts';
import { expectClean, expectToPing, underLoad, waitForAddress } from './chart-checks.ts';
import { type ChartEnvironment, type ChartSettings, startChartEnvironment, upgradeTag } from './chart-environment.ts';
import { cutNetwork, restoreNetwork } from './cut-network.ts';
import { ledgerPod, listFailedAdds, networkObjects } from './ledger-pods.ts';
import { moveActiveWatcher, podsOf } from './release-pods.ts';

const limitMs = 900_000;

const stories: readonly (ChartSettings & { readonly section: string })[] = [
  { nodes: 1, helm: 'helm3', section: 'Quick: one node' },
  { nodes: 2, helm: 'helm', section: 'Two nodes' },
];

for (const settings of stories)
  describe(`make e2e-chart with ${settings.helm} on ${settings.nodes} node(s)`, function () {
    this.timeout(limitMs);
    this.bail(true); // each step needs the one before
    let run: Run;
    let environment: ChartEnvironment;
    before(async () => {
      const support = await probeNodeSupport();
      if (!support.isAvailable) throw new Error(`this machine cannot run nodes: ${support.reason}`);
      run = openRun();
      environment = await startChartEnvironment(run, settings);
    });
    after(() => run?.end());

    it('helm install refuses more members of etcd than nodes, and names the values that fit', async () => {
      await environment.follow('Before you begin');
      const ha = { replace: { 'deploy/ha/': 'deploy/ha/' } };
      const error: unknown = await environment.follow('High availability', ha).catch((thrown: unknown) => thrown);
      expect(String(error)).to.contain(
        `etcd can run on ${settings.nodes} nodes: add --values deploy/single/values.yaml`,
      );
    });

    it('the commands of docs/install.md lead to a Pod with an address', async () => {
      await environment.follow(settings.section);
      await environment.follow('The first Pod');
      for (const object of networkObjects()) await environment.kubernetes.create(object);
      const residents = environment.workers.map((worker, index) => ({ worker, pod: `resident-${index}` }));
      for (const { worker, pod } of residents) await environment.kubernetes.create(ledgerPod(pod, worker.name));
      for (const { pod } of residents) await waitForAddress(environment, pod);
      await expectToPing(residents);
      expect(await listFailedAdds(environment.kubernetes)).to.deep.equal([]);
      await expectClean(environment);
    });

    if (settings.nodes === 2)
      it('all packets of the node without etcd, with the active pod-watcher, are dropped under load: Pods on the other node get addresses', async () => {
        const [member] = await podsOf(environment, 'etcd');
        const isServing = ({ name }: Worker): boolean => name === member?.node;
        const isolated = environment.workers.find((worker) => !isServing(worker)) as Worker;
        await moveActiveWatcher(environment, isolated);
        await underLoad(environment, environment.workers.filter(isServing), async (load) => {
          await cutNetwork(isolated);
          await load.waitFor(8);
          await restoreNetwork(isolated);
        });
        await environment.kubernetes.create(ledgerPod('isolated', isolated.name));
        await waitForAddress(environment, 'isolated');
        await expectClean(environment);
      });

    it('helm upgrade restarts all programs under load, refuses other members of etcd, and rollback goes back', async () => {
      const { workers, setValues, follow, shell } = environment;
      setValues({ tag: upgradeTag, etcd: { members: 3 } });
      expect(String(await follow('Upgrade').catch((thrown: unknown) => thrown))).to.contain('etcd has 1 members');
      await shell(`kubectl delete job before-upgrade -n ${namespace}`);
      for (const [act, tag] of [
        [() => follow('Upgrade'), upgradeTag],
        [() => shell(`helm rollback ipledger -n ${namespace} --wait --timeout 10m`), undefined],
      ] as const) {
        setValues({ tag: upgradeTag });
        await underLoad(environment, workers, async () => {
          await act();
        });
        for (const component of ['allocator', 'pod-watcher', 'node-agent', 'etcd'])
          for (const { image, name } of await podsOf(environment, component))
            expect(image.endsWith(`:${upgradeTag}`), `${name} runs ${image}`).to.equal(tag === upgradeTag);
      }
      await expectClean(environment);
    });

    it('helm uninstall keeps CustomResourceDefinitions and Subnets', async () => {
      await environment.shell(`helm uninstall ipledger -n ${namespace} --wait`);
      const names = (await environment.kubernetes.list('Subnet')).map(({ metadata }) => metadata.name);
      expect(names).to.have.members(['lan', 'load']);
    });
  });

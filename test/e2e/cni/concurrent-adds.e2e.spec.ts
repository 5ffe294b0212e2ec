/** Tests many concurrent ADDs, also while plugin and agent are replaced. */
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { callPlugin, type CniAnswer, kubeOvnPlugin, podArgs } from '../../harness/cni.ts';
import { expectConsistency } from '../support/consistency.ts';
import { readSystemSnapshot } from '../support/system-snapshot.ts';
import { resultAddresses } from '../support/plugin-call.ts';
import {
  waitForAddress,
  macvlanConfig,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

/** The pause between two attempts. */
const retryMs = 100;
const pods = Array.from({ length: 200 }, (_, number) => `pod-${number}`);

describe('the CNI contract: concurrent ADDs', function () {
  this.timeout(300_000);
  let scene: TestEnvironment;
  /** The path of the installed plugin, as on a node. */
  let installed: string;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.14.0.0/20');
    installed = join(scene.run.folder, 'kube-ovn');
    copyFileSync(kubeOvnPlugin, installed);
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  const call = (command: 'ADD' | 'DEL', pod: string): Promise<CniAnswer> =>
    callPlugin({
      command,
      plugin: installed,
      config: { ...macvlanConfig(scene, 'lan.default'), name: 'lan' },
      containerId: `container-of-${pod}`,
      netns: '/var/run/netns/nowhere',
      ifName: 'net1',
      args: podArgs('default', pod),
    });

  /** Repeats ADD after an error with code 11, as a kubelet does. */
  async function addUntilSuccess(pod: string): Promise<CniAnswer> {
    const answer = await call('ADD', pod);
    if (answer.code === 0) return answer;
    expect(answer.result, answer.stdout).to.include({ code: 11, msg: 'RPC failed' });
    await sleep(retryMs);
    return addUntilSuccess(pod);
  }

  /** Runs `work` for each Pod, with a limit of concurrent runs. */
  async function forEachPod(concurrency: number, work: (pod: string) => Promise<void>): Promise<void> {
    const queue = [...pods];
    const worker = async (): Promise<void> => {
      for (let pod = queue.shift(); pod !== undefined; pod = queue.shift()) await work(pod);
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
  }

  it('CA-11096 200 concurrent ADDs get 200 distinct addresses while their Pods are created', async () => {
    const answers = Promise.all(pods.map(addUntilSuccess));
    await forEachPod(16, async (pod) => void (await makePod(scene, pod, 'lan')));
    const addresses: unknown[] = (await answers).flatMap(resultAddresses);
    expect(new Set(addresses).size).to.equal(pods.length);
    expect(addresses).to.include(`${await waitForAddress(scene, 'pod-17', 'lan')}/20`);
  });

  it('ADDs and DELs succeed while the file of the plugin is replaced repeatedly', async () => {
    const finished = new AbortController();
    const replaced = (async () => {
      let times = 0;
      for (; !finished.signal.aborted; times++) {
        copyFileSync(kubeOvnPlugin, `${installed}.new`);
        renameSync(`${installed}.new`, installed);
        await sleep(10);
      }
      return times;
    })();
    await forEachPod(16, async (pod) => {
      const answer = await call('DEL', pod);
      expect(answer, `DEL of ${pod}: ${answer.stdout}`).to.include({ code: 0 });
      await addUntilSuccess(pod);
    });
    finished.abort();
    expect(await replaced).to.be.greaterThan(20);
  });

  it('ADDs succeed during upgrades of the agent', async () => {
    const [agent] = scene.stack.agents;
    const upgrades = (async () => {
      for (const stop of [() => agent.stop(), () => agent.kill(), () => agent.stop()]) {
        await stop();
        await agent.start();
      }
    })();
    await forEachPod(16, async (pod) => {
      const answer = await call('ADD', pod);
      expect(answer, `ADD of ${pod}: ${answer.stdout}`).to.include({ code: 0 });
    });
    await upgrades;
    const { allocations } = await readSystemSnapshot(scene.stack, scene.run.signal);
    expect(allocations.map(({ bindings }) => bindings.length)).to.deep.equal(pods.map(() => 1));
  });
});

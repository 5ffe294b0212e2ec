/** Many ADDs at once, while plugin and agent are replaced. */
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { callPlugin, type CniAnswer, kubeOvnPlugin, podArgs } from '../harness/cni.ts';
import { expectAgreement } from './agreement.ts';
import { takePicture } from './picture.ts';
import { addressesIn } from './plugin.ts';
import { addressOf, macvlanConfig, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

/** Between two tries. */
const againMs = 100;
const crowd = Array.from({ length: 200 }, (_, number) => `pod-${number}`);

describe('the CNI contract: a crowd', function () {
  this.timeout(300_000);
  let scene: Scene;
  /** Where the plugin is installed, as on a node. */
  let installed: string;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.14.0.0/20');
    installed = join(scene.run.folder, 'kube-ovn');
    copyFileSync(kubeOvnPlugin, installed);
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

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

  /** As kubelet does: again after a while, when it is told to. */
  async function addAtLast(pod: string): Promise<CniAnswer> {
    const answer = await call('ADD', pod);
    if (answer.code === 0) return answer;
    expect(answer.result, answer.stdout).to.include({ code: 11, msg: 'RPC failed' });
    await sleep(againMs);
    return addAtLast(pod);
  }

  /** Does some at a time, all of them. */
  async function eachOf(pods: readonly string[], atOnce: number, work: (pod: string) => Promise<void>): Promise<void> {
    const queue = [...pods];
    const worker = async (): Promise<void> => {
      for (let pod = queue.shift(); pod !== undefined; pod = queue.shift()) await work(pod);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }

  it('200 ADDs at once, of Pods that are just being created, all get addresses, no two the same', async () => {
    const answers = Promise.all(crowd.map(addAtLast));
    await eachOf(crowd, 16, async (pod) => void (await makePod(scene, pod, 'lan')));
    const addresses: unknown[] = (await answers).flatMap(addressesIn);
    expect(new Set(addresses).size).to.equal(crowd.length);
    expect(addresses).to.include(`${await addressOf(scene, 'pod-17', 'lan')}/20`);
  });

  it('ADDs and DELs all succeed while the plugin’s file is replaced again and again', async () => {
    const enough = new AbortController();
    const replaced = (async () => {
      let times = 0;
      for (; !enough.signal.aborted; times++) {
        copyFileSync(kubeOvnPlugin, `${installed}.new`);
        renameSync(`${installed}.new`, installed);
        await sleep(10);
      }
      return times;
    })();
    await eachOf(crowd, 16, async (pod) => {
      const answer = await call('DEL', pod);
      expect(answer, `DEL of ${pod}: ${answer.stdout}`).to.include({ code: 0 });
      await addAtLast(pod);
    });
    enough.abort();
    expect(await replaced).to.be.greaterThan(20);
  });

  it('ADDs during upgrades of the agent succeed, or are told to try again and then succeed', async () => {
    const [agent] = scene.stack.agents;
    const upgrades = (async () => {
      for (const stop of [() => agent.stop(), () => agent.kill(), () => agent.stop()]) {
        await stop();
        await agent.start();
      }
    })();
    await eachOf(crowd, 16, async (pod) => void (await addAtLast(pod)));
    await upgrades;
    const { allocations } = await takePicture(scene.stack, scene.run.signal);
    expect(allocations.map(({ bindings }) => bindings.length)).to.deep.equal(crowd.map(() => 1));
  });
});

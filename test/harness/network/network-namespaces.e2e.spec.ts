/** Tests the network namespaces with real macvlan links. */
import { join } from 'node:path';
import { expect } from 'chai';
import { callPlugin, podArgs } from '../cni.ts';
import {
  probeMacvlan,
  createNamespace,
  createNodeNamespace,
  inNamespace,
  type Namespace,
} from './network-namespaces.ts';
import { findPlugins } from '../programs/find-program.ts';
import { openRun, type Run } from '../run.ts';

describe('Network namespaces', () => {
  let run: Run;
  before(async function () {
    const ability = await probeMacvlan();
    if (!ability.isAvailable) {
      console.log(`      skipped: ${ability.reason}`);
      this.skip();
    }
    run = openRun();
  });
  after(() => run?.end());

  async function podOn(node: Namespace, name: string, address: string): Promise<Namespace> {
    const pod = await createNamespace(run, name);
    const answer = await callPlugin({
      command: 'ADD',
      plugin: join(await findPlugins(), 'macvlan'),
      config: {
        cniVersion: '1.0.0',
        name: 'macvlan',
        type: 'macvlan',
        master: 'eth0',
        mode: 'bridge',
        ipam: { type: 'static', addresses: [{ address }] },
      },
      node,
      containerId: name,
      netns: pod.path,
      ifName: 'net1',
      args: podArgs('default', name),
    });
    expect(answer.code, answer.stdout).to.equal(0);
    expect(answer.result).to.have.nested.property('ips[0].address', address);
    return pod;
  }

  it('Network namespaces connect Pods on one node and across nodes over macvlan', async () => {
    const [one, two] = [await createNodeNamespace(run, 'node-1'), await createNodeNamespace(run, 'node-2')];
    const pod = await podOn(one, 'pod-a', '172.17.0.11/16');
    await podOn(one, 'pod-b', '172.17.0.12/16');
    await podOn(two, 'pod-c', '172.17.0.13/16');
    const ping = async (address: string): Promise<number> =>
      (await inNamespace(pod, ['ping', '-c', '1', '-W', '5', address])).code;
    expect(await ping('172.17.0.12')).to.equal(0);
    expect(await ping('172.17.0.13')).to.equal(0);
    expect((await inNamespace(pod, ['ping', '-c', '1', '-W', '1', '172.17.0.14'])).code).to.equal(1);
  });

  it('Network namespaces return the error of a plugin unchanged', async () => {
    const answer = await callPlugin({ command: 'ADD', plugin: join(await findPlugins(), 'macvlan'), config: {} });
    expect(answer.code).to.equal(1);
    expect(answer.result).to.have.property('code', 4);
  });
});

import { expect } from 'chai';
import { createNamespace, ip, type Namespace } from '../../../test/harness/network/network-namespaces.ts';
import { openRun } from '../../../test/harness/run.ts';
import { createPodLinks } from './pod-links.ts';
import { nicPlan } from './testing/ovs-rows.ts';

async function macOf(sandbox: Namespace, name: string): Promise<string> {
  const links = JSON.parse(await ip(sandbox, ['-json', 'link', 'show', 'dev', name])) as { address: string }[];
  return links[0]?.address ?? '';
}

describe('PodLinks', function () {
  this.timeout(60_000);
  const run = openRun();
  after(() => run.end());

  it('PodLinks does not change the MAC of a NIC that replaced the announced one', async () => {
    const sandbox = await createNamespace(run, 'sandbox');
    const { announce } = createPodLinks('/proc/sys/net');
    const earlier = nicPlan({ netns: sandbox.path });
    const mac = '02:00:00:00:00:22';
    const name = earlier.interface;
    await ip(sandbox, ['link', 'add', name, 'address', mac, 'type', 'veth', 'peer', 'name', 'other']);
    const outcome: unknown = await announce(earlier, run.signal).catch((error: unknown) => error);
    expect(await macOf(sandbox, name)).to.equal(mac);
    expect(outcome).to.be.an('error').with.property('message').which.contains('another MAC');
    await announce({ ...earlier, mac }, run.signal);
    expect(await macOf(sandbox, name)).to.equal(mac);
  });
});

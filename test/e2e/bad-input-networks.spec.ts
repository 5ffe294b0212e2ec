/** Networks that are not there, or not as they must be: an Event says which and what to do, and the Pod waits for it. */
import { expect } from 'chai';
import { expectAgreement } from './agreement.ts';
import { apply } from './manifests.ts';
import { plugin } from './plugin.ts';
import {
  addressOf,
  eventOf,
  macvlanConfig,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  openScene,
  type Scene,
} from './scene.ts';

describe('bad input: networks', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.3.0.0/24');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  /** A Pod of this network is told so; and that its other network is fine does not help it. */
  async function expectProblem(network: string, says: RegExp): Promise<void> {
    await makePod(scene, `pod-of-${network}`, `lan,${network}`);
    const said = await eventOf(scene, `pod-of-${network}`, 'PodNetworkUpdateFailed', says);
    expect(said).to.match(/^stage=getPodKubeovnNets error=/);
    const { metadata } = await scene.kubernetes.get('Pod', `pod-of-${network}`);
    expect(metadata.annotations).to.not.have.property('lan.default.kubernetes.io/allocated');
  }

  it('a configuration that is no JSON', async () => {
    await makeNetwork(scene, 'broken', '{"type": "macvlan"');
    await expectProblem(
      'broken',
      /NetworkAttachmentDefinition default\/broken: its spec\.config is no valid JSON: .*: correct it/,
    );
  });

  it('a configuration without type', async () => {
    await makeNetwork(scene, 'untyped', '{"cniVersion": "0.3.1", "ipam": {"type": "kube-ovn"}}');
    await expectProblem(
      'untyped',
      /NetworkAttachmentDefinition default\/untyped: its spec\.config must have the 'type' or 'plugin' field: correct it/,
    );
  });

  it('KO-604 another provider in the ipam block than the network’s own: also said at ADD', async () => {
    await makeNetwork(scene, 'mistaken', macvlanConfig(scene, 'default.mistaken'));
    await makeSubnet(scene, 'mistaken', { cidrBlock: '10.3.1.0/24' });
    await expectProblem(
      'mistaken',
      /default\/mistaken: its configuration says provider "default\.mistaken", and must say "mistaken\.default": correct it/,
    );
    const config = { ...macvlanConfig(scene, 'default.mistaken'), name: 'mistaken' };
    const { result } = await plugin(scene, { pod: 'pod-of-mistaken', network: 'mistaken', config });
    expect(result).to.include({ code: 11, msg: 'RPC failed' });
    expect(result)
      .to.have.property('details')
      .that.matches(/^request ip return 400 no address .* must say "mistaken\.default": correct it\. Run: /);
  });

  for (const [file, pod, annotation] of [
    ['01-pod-ovn-network', 'pod-ovn', 'ovnNetwork'],
    ['02-pod-ovn-static', 'pod-ovn-static', 'ovn'],
  ] as const)
    it(`networking-plugin/${file}: the Event states that annotation ${annotation} is not served, and what to do`, async () => {
      await apply(scene, 'networking-plugin', file);
      const says = new RegExp(
        `^annotation ${annotation} is not served: .*no address by it\\. Create a NetworkAttachment`,
      );
      await eventOf(scene, pod, 'PodNetworkNotServed', says);
    });

  it('a network that is not there, until it is', async () => {
    await makeSubnet(scene, 'missing', { cidrBlock: '10.3.2.0/24' });
    await expectProblem(
      'missing',
      /there is no NetworkAttachmentDefinition default\/missing: create it, or correct the Pod's networks annotation/,
    );
    await makeNetwork(scene, 'missing');
    expect(await addressOf(scene, 'pod-of-missing', 'missing')).to.equal('10.3.2.2');
    await eventOf(scene, 'pod-of-missing', 'PodNetworkAllocated', /ip=10\.3\.2\.2 mac= provider=missing\.default/);
  });

  it('a provider without Subnet, at the API and at ADD, until there is one', async () => {
    await makeNetwork(scene, 'unbound');
    await expectProblem(
      'unbound',
      /provider unbound\.default is not bound to any subnet: create a Subnet with spec\.provider "unbound\.default"/,
    );
    const refused = await plugin(scene, { pod: 'pod-of-unbound', network: 'unbound' });
    expect(refused.result).to.include({ code: 11, msg: 'RPC failed' });
    expect(refused.result)
      .to.have.property('details')
      .that.matches(
        /^request ip return 400 provider unbound\.default is not bound to any subnet: create a Subnet .*\. Run: /,
      );
    await makeSubnet(scene, 'unbound', { cidrBlock: '10.3.3.0/24' });
    await addressOf(scene, 'pod-of-unbound', 'unbound');
    const { result } = await plugin(scene, { pod: 'pod-of-unbound', network: 'unbound' });
    expect(result).to.have.nested.property('ips[0].address', '10.3.3.2/24');
  });
});

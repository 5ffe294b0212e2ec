/**
 * Tests missing or invalid networks: an Event names the network and the remedy, and the Pod waits.
 */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import { applyManifest } from '../support/manifests.ts';
import { callKubeOvnPlugin } from '../support/plugin-call.ts';
import {
  waitForAddress,
  waitForEvent,
  macvlanConfig,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('bad input: networks', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.3.0.0/24');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  /** Expects the Event, and that a Pod gets no address of its other, valid network. */
  async function expectProblem(network: string, expected: RegExp): Promise<void> {
    await makePod(scene, `pod-of-${network}`, `lan,${network}`);
    const message = await waitForEvent(scene, `pod-of-${network}`, 'PodNetworkUpdateFailed', expected);
    expect(message).to.match(/^stage=getPodKubeovnNets error=/);
    const { metadata } = await scene.kubernetes.get('Pod', `pod-of-${network}`);
    expect(metadata.annotations).to.not.have.property('lan.default.kubernetes.io/allocated');
  }

  it('an Event reports a configuration that is not JSON', async () => {
    await makeNetwork(scene, 'broken', '{"type": "macvlan"');
    await expectProblem(
      'broken',
      /NetworkAttachmentDefinition default\/broken: its spec\.config is not valid JSON: .*: correct it/,
    );
  });

  it('an Event reports a configuration without a type', async () => {
    await makeNetwork(scene, 'untyped', '{"cniVersion": "0.3.1", "ipam": {"type": "kube-ovn"}}');
    await expectProblem(
      'untyped',
      /NetworkAttachmentDefinition default\/untyped: its spec\.config must have the 'type' or 'plugin' field: correct it/,
    );
  });

  it('KO-604 an Event and the ADD report another provider in the ipam block than the network’s own', async () => {
    await makeNetwork(scene, 'mistaken', macvlanConfig(scene, 'default.mistaken'));
    await makeSubnet(scene, 'mistaken', { cidrBlock: '10.3.1.0/24' });
    await expectProblem(
      'mistaken',
      /default\/mistaken: its configuration has provider "default\.mistaken", but must have "mistaken\.default": correct it/,
    );
    const config = { ...macvlanConfig(scene, 'default.mistaken'), name: 'mistaken' };
    const { result } = await callKubeOvnPlugin(scene, { pod: 'pod-of-mistaken', network: 'mistaken', config });
    expect(result).to.include({ code: 11, msg: 'RPC failed' });
    expect(result)
      .to.have.property('details')
      .that.matches(/^request ip return 400 no address .* must have "mistaken\.default": correct it\. Run: /);
  });

  it('networking-plugin/01-pod-ovn-network: an Event reports the Subnets that are missing', async () => {
    await applyManifest(scene, 'networking-plugin', '01-pod-ovn-network');
    await waitForEvent(
      scene,
      'pod-ovn',
      'PodNetworkUpdateFailed',
      /annotation ovnNetwork: network ovn-ls-25: there is no Subnet ovn-ls-25: create or correct it; .*ovn-ls-26/,
    );
  });

  it('an Event reports a missing network, and the Pod gets its address after the network is created', async () => {
    await makeSubnet(scene, 'missing', { cidrBlock: '10.3.2.0/24' });
    await expectProblem(
      'missing',
      /there is no NetworkAttachmentDefinition default\/missing: create it, or correct the Pod's networks annotation/,
    );
    await makeNetwork(scene, 'missing');
    expect(await waitForAddress(scene, 'pod-of-missing', 'missing')).to.equal('10.3.2.2');
    await waitForEvent(scene, 'pod-of-missing', 'PodNetworkAllocated', /ip=10\.3\.2\.2 mac= provider=missing\.default/);
  });

  it('an Event and the ADD report a provider without a Subnet until a Subnet is created', async () => {
    await makeNetwork(scene, 'unbound');
    await expectProblem(
      'unbound',
      /provider unbound\.default is not bound to any subnet: create a Subnet with spec\.provider "unbound\.default"/,
    );
    const refused = await callKubeOvnPlugin(scene, { pod: 'pod-of-unbound', network: 'unbound' });
    expect(refused.result).to.include({ code: 11, msg: 'RPC failed' });
    expect(refused.result)
      .to.have.property('details')
      .that.matches(
        /^request ip return 400 provider unbound\.default is not bound to any subnet: create a Subnet .*\. Run: /,
      );
    await makeSubnet(scene, 'unbound', { cidrBlock: '10.3.3.0/24' });
    await waitForAddress(scene, 'pod-of-unbound', 'unbound');
    const { result } = await callKubeOvnPlugin(scene, { pod: 'pod-of-unbound', network: 'unbound' });
    expect(result).to.have.nested.property('ips[0].address', '10.3.3.2/24');
  });
});

/**
 * Tests plugins that give the node an address: the real bridge and ptp, which use the gateway of
 * the IPAM result.
 */
import { expect } from 'chai';
import { createNodeNamespace, ip, type Namespace } from '../../harness/network/network-namespaces.ts';
import { attach, detach } from '../support/attachments.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { canPing, cnitool, createSandbox, itOnMacvlan, type Nic, readLink } from '../support/sandbox.ts';
import {
  macvlanConfig,
  makeNetwork,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
  waitForAddress,
} from '../support/test-environment.ts';

const gateways = ['10.14.0.254', 'fd00:14::fe'];

describe('the CNI contract: a plugin that gives the node an address', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  let node: Namespace;
  before(async () => {
    scene = await openTestEnvironment();
    node = await createNodeNamespace(scene.run, 'node-1');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  async function makeGatewayNetwork(name: string, plugin: object): Promise<void> {
    const { ipam } = macvlanConfig(scene, `${name}.default`);
    await makeNetwork(scene, name, { cniVersion: '1.0.0', ...plugin, ipam });
    const spec = { cidrBlock: '10.14.0.0/24,fd00:14::/64', gateway: gateways.join(',') };
    await makeSubnet(scene, name, { ...spec, provider: `${name}.default` });
  }

  async function start(pod: string, network: string): Promise<{ nic: Nic; addresses: string[] }> {
    await makePod(scene, pod, network);
    const addresses = (await waitForAddress(scene, pod, network)).split(',');
    const nic = { node, sandbox: await createSandbox(scene.run, pod), pod, network };
    await attach(scene, nic);
    return { nic, addresses };
  }

  async function addressesOn(namespace: Namespace): Promise<string[]> {
    const printed = await ip(namespace, ['-json', 'address', 'show']);
    const links = JSON.parse(printed) as { addr_info: { local: string }[] }[];
    return links.flatMap(({ addr_info: each }) => each.map(({ local }) => local));
  }

  for (const [network, plugin] of [
    ['gateway', { type: 'bridge', bridge: 'br-gateway', isGateway: true }],
    ['ptp', { type: 'ptp' }],
  ] as const)
    itOnMacvlan(`${plugin.type} gives the node the gateway of the Subnet, and never an address of a Pod`, async () => {
      await makeGatewayNetwork(network, plugin);
      const { nic, addresses } = await start(`first-on-${network}`, network);
      expect(addresses, 'the address that bridge takes without a gateway').to.deep.equal(['10.14.0.1', 'fd00:14::1']);
      expect((await readLink(nic.sandbox)).addresses).to.deep.equal(['10.14.0.1/24', 'fd00:14::1/64']);
      const onNode = await addressesOn(node);
      expect(onNode).to.include.members(gateways).and.not.include.members(addresses);
      expect(await ip(nic.sandbox, ['route', 'show', 'default'])).to.equal('');
      for (const gateway of gateways)
        await eventually(async () => expect(await canPing(nic.sandbox, gateway)).to.be.true);
      const { code, stdout, stderr } = await cnitool(scene, 'check', nic);
      expect(code, `${stdout}${stderr}`).to.equal(0);
      await detach(scene, nic);
      await scene.kubernetes.remove('Pod', nic.pod);
    });
});

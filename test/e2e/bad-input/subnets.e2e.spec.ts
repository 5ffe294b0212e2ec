/**
 * Tests Subnets with an invalid spec: conditions and an Event report it, and the earlier spec stays
 * in force.
 */
import { expect } from 'chai';
import { connect, call } from '../../../lib/grpc/client.ts';
import { SubnetsService } from '../../../proto/generated/ipledger.ts';
import { documentedCommands } from '../../docs/documented-commands.ts';
import { runDocumented } from '../../docs/run-documented.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import { readSystemSnapshot } from '../support/system-snapshot.ts';
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

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

describe('bad input: Subnets', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.4.0.0/24');
    await makePod(scene, 'web', 'lan');
    await waitForAddress(scene, 'web', 'lan');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  function expectConditions(
    subnet: string,
    expectedStatus: Readonly<Record<string, string>>,
    expected: RegExp,
  ): Promise<void> {
    return eventually(async () => {
      const { status } = await scene.kubernetes.get('Subnet', subnet);
      const conditions = (status?.['conditions'] ?? []) as unknown as Condition[];
      expect(Object.fromEntries(conditions.map(({ type, status: is }) => [type, is]))).to.deep.equal(expectedStatus);
      for (const { message } of conditions) expect(message).to.match(expected);
    });
  }

  async function expectRefusal(subnet: string, expected: RegExp): Promise<void> {
    await expectConditions(subnet, { Validated: 'False', Ready: 'False', Error: 'True' }, expected);
    await waitForEvent(scene, subnet, 'ValidateLogicalSwitchFailed', expected);
  }

  async function subnetsInForce(): Promise<string[]> {
    const { subnets } = await readSystemSnapshot(scene.stack, scene.run.signal);
    return subnets.map(({ name, spec }) => `${name} ${spec?.cidrBlock}`);
  }

  it('an invalid CIDR is reported at the Subnet and at a Pod, which gets an address after the correction', async () => {
    await makeSubnet(scene, 'typo', { cidrBlock: '10.4.1.0/33' });
    await makeNetwork(scene, 'typo');
    await expectRefusal(
      'typo',
      /^subnet typo cidr 10\.4\.1\.0\/33 is invalid: 10\.4\.1\.0\/33 is not a valid cidr: write address\/length$/,
    );
    await makePod(scene, 'pod-of-typo', 'typo');
    await waitForEvent(
      scene,
      'pod-of-typo',
      'PodNetworkUpdateFailed',
      /provider typo\.default is not bound to any subnet: Subnet typo is not in force: subnet typo cidr 10\.4\.1\.0\/33 is invalid/,
    );
    await scene.kubernetes.patch('Subnet', 'typo', { spec: { cidrBlock: '10.4.1.0/24' } });
    expect(await waitForAddress(scene, 'pod-of-typo', 'typo')).to.equal('10.4.1.2');
    await expectConditions('typo', { Validated: 'True', Ready: 'True', Error: 'False' }, /^$/);
  });

  it('a gateway outside the CIDR of a Subnet is reported', async () => {
    await makeSubnet(scene, 'astray', { cidrBlock: '10.4.2.0/24', gateway: '10.4.3.1' });
    await expectRefusal('astray', /^gateway 10\.4\.3\.1 is not in cidr 10\.4\.2\.0\/24$/);
  });

  it('all errors of a Subnet spec are reported together', async () => {
    await makeSubnet(scene, 'wild', {
      cidrBlock: '10.4.2.0/24',
      gateway: '10.4.2.255',
      excludeIps: ['10.4.2.9..10.4.2.1'],
    });
    await expectRefusal(
      'wild',
      /10\.4\.2\.9\.\.10\.4\.2\.1 in excludeIps is not a valid ip range.*; 10\.4\.2\.255 is the broadcast ip/,
    );
  });

  it('AN-7306 an overlap with another Subnet of the same provider is rejected', async () => {
    await makeSubnet(scene, 'twin', { cidrBlock: '10.4.0.128/25', provider: 'lan.default' });
    await expectRefusal(
      'twin',
      /^subnet twin cidr 10\.4\.0\.128\/25 is conflict with subnet lan cidr 10\.4\.0\.0\/24: both serve provider lan\.default$/,
    );
    expect(await subnetsInForce())
      .to.include('lan 10.4.0.0/24')
      .and.not.include('twin 10.4.0.128/25');
  });

  it('a CIDR that excludes an address in use is rejected, and the earlier CIDR stays in force', async () => {
    await scene.kubernetes.patch('Subnet', 'lan', { spec: { cidrBlock: '10.4.9.0/24', gateway: '10.4.9.1' } });
    await expectRefusal(
      'lan',
      /^subnet lan can't become 10\.4\.9\.0\/24: Pod default\/web holds 10\.4\.0\.2, which would be outside$/,
    );
    expect(await subnetsInForce()).to.include('lan 10.4.0.0/24');
    await scene.kubernetes.patch('Subnet', 'lan', { spec: { cidrBlock: '10.4.0.0/24', gateway: '10.4.0.1' } });
    await expectConditions('lan', { Validated: 'True', Ready: 'True', Error: 'False' }, /^$/);
  });

  it('a Subnet that is deleted while in use keeps its Pods, accepts no new Pod, and is removed with its last Pod', async () => {
    await makeNetworkAndSubnet(scene, 'doomed', '10.4.5.0/24');
    await makePod(scene, 'last', 'doomed');
    await waitForAddress(scene, 'last', 'doomed');
    await scene.kubernetes.remove('Subnet', 'doomed');
    // Waits until the watcher has seen the deletion: it can see two changes in either order, and a
    // Pod that it sees first could still get an address.
    const held = /1 of its addresses are held, the first by Pod default\/last$/;
    await expectConditions('doomed', { Validated: 'True', Ready: 'False', Error: 'False' }, /^$|addresses are held/);
    await waitForEvent(scene, 'doomed', 'SubnetInUse', held);
    await makePod(scene, 'late', 'doomed');
    await waitForEvent(
      scene,
      'late',
      'PodNetworkUpdateFailed',
      /provider doomed\.default is not bound to any subnet: Subnet doomed is being deleted/,
    );
    const client = connect(scene.stack.allocator.endpoint, undefined);
    const refused: unknown = await call(
      client,
      SubnetsService.deleteSubnet,
      { name: 'doomed' },
      { timeoutMs: 20_000 },
    ).catch((error: unknown) => error);
    client.close();
    expect(refused).to.include({
      code: 'SUBNET_IN_USE',
      message: "subnet doomed can't be retired: 1 of its addresses are held, the first by Pod default/last",
    });
    const { result } = await callKubeOvnPlugin(scene, { pod: 'last', network: 'doomed' });
    expect(result).to.have.nested.property('ips[0].address', '10.4.5.2/24');
    await callKubeOvnPlugin(scene, { pod: 'last', network: 'doomed', command: 'DEL' });
    await scene.kubernetes.remove('Pod', 'last');
    await eventually(async () => expect(await subnetsInForce()).to.not.include('doomed 10.4.5.0/24'));
    await eventually(async () => {
      const remaining = await scene.kubernetes.list('Subnet');
      expect(remaining.map(({ metadata }) => metadata.name)).to.not.include('doomed');
    });
  });

  it('two overlapping Subnets in one broadcast domain each name the other in a condition until one of them moves', async () => {
    const expectOverlap = (name: string, status: string, expected: RegExp) =>
      eventually(async () => {
        const object = await scene.kubernetes.get('Subnet', name);
        const conditions = (object.status?.['conditions'] ?? []) as unknown as Condition[];
        const overlap = conditions.find(({ type }) => type === 'AddressOverlap');
        expect(overlap?.status).to.equal(status);
        expect(overlap?.message).to.match(expected);
        expect(conditions.find(({ type }) => type === 'Ready')?.status).to.equal('True');
      });
    await makeNetwork(scene, 'wire-a');
    await makeNetwork(scene, 'wire-b', { ...macvlanConfig(scene, 'wire-b.default'), type: 'ipvlan', mode: 'l2' });
    await makeSubnet(scene, 'wire-a', { cidrBlock: '10.90.0.0/16' });
    await makeSubnet(scene, 'wire-b', { cidrBlock: '10.90.7.0/24' });
    await expectOverlap(
      'wire-a',
      'True',
      /^Subnet wire-a and Subnet wire-b .* \(eth0\): .* default\/wire-a and default\/wire-b /,
    );
    await expectOverlap(
      'wire-b',
      'True',
      /^Subnet wire-b and Subnet wire-a .* separate the Subnets by cidrBlock or excludeIps$/,
    );
    const listed = await runDocumented(scene.run, documentedCommands('docs/operations.md', 'address-overlap'), {
      KUBECONFIG: scene.stack.cluster.kubeconfig,
    });
    expect(
      listed.stdout
        .trim()
        .split('\n')
        .sort()
        .map((line) => line.slice(0, 13)),
    ).to.deep.equal(['Subnet wire-a', 'Subnet wire-b']);
    await scene.kubernetes.patch('Subnet', 'wire-b', {
      spec: { cidrBlock: '10.91.7.0/24', gateway: '', excludeIps: [] },
    });
    for (const name of ['wire-a', 'wire-b']) await expectOverlap(name, 'False', /^$/);
  });
});

/**
 * Tests Subnet objects: the normal form of their spec, their finalizer, and their deletion while
 * addresses are in use.
 */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

const finalizer = 'ipledger.io/ledger';

describe('Subnet objects', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  const isReady = ({ metadata, status }: KubeObject): boolean =>
    ((status?.['conditions'] ?? []) as { type: string; status: string; observedGeneration: number }[]).some(
      ({ type, status: is, observedGeneration }) =>
        type === 'Ready' && is === 'True' && observedGeneration === (metadata as { generation?: number }).generation,
    );
  const waitForReady = (name: string): Promise<KubeObject> =>
    eventually(async () => {
      const subnet = await scene.kubernetes.get('Subnet', name);
      expect(isReady(subnet), JSON.stringify(subnet.status)).to.equal(true);
      return subnet;
    });
  const listNames = async (): Promise<string[]> =>
    (await scene.kubernetes.list('Subnet')).map(({ metadata }) => metadata.name);

  it('Subnet objects show their spec in normal form, written once and without foreign fields', async () => {
    const spec = { cidrBlock: '10.5.0.7/24', excludeIps: ['10.5.0.9..10.5.0.12', '10.5.0.10'] };
    await makeSubnet(scene, 'plain', spec);
    const { spec: shown, metadata } = await waitForReady('plain');
    expect(shown).to.deep.equal({
      provider: 'plain.default',
      protocol: 'IPv4',
      cidrBlock: '10.5.0.0/24',
      gateway: '10.5.0.1',
      excludeIps: ['10.5.0.1', '10.5.0.9..10.5.0.12'],
    });
    expect(metadata.finalizers).to.deep.equal([finalizer]);
    expect(metadata).to.include({ generation: 2 });
  });

  it('Subnet objects of the primary network get Kube-OVN’s defaults', async () => {
    await makeSubnet(scene, 'overlay', { cidrBlock: '10.6.0.0/24', provider: '' });
    expect((await waitForReady('overlay')).spec).to.include({
      provider: 'ovn',
      vpc: 'ovn-cluster',
      gatewayType: 'distributed',
    });
  });

  it('Subnet objects are normalised again after a change by their owner', async () => {
    await makeSubnet(scene, 'again', { cidrBlock: '10.7.0.0/24' });
    await waitForReady('again');
    await scene.kubernetes.patch('Subnet', 'again', { spec: { protocol: 'IPv6', excludeIps: ['10.7.0.5'] } });
    await eventually(async () =>
      expect((await waitForReady('again')).spec).to.deep.include({
        protocol: 'IPv4',
        excludeIps: ['10.7.0.1', '10.7.0.5'],
      }),
    );
  });

  it('Subnet objects get their finalizer again after its removal', async () => {
    await scene.kubernetes.patch('Subnet', 'again', { metadata: { finalizers: null } });
    await eventually(async () => expect((await waitForReady('again')).metadata.finalizers).to.deep.equal([finalizer]));
  });

  it('Subnet objects that are deleted while in use stay until their last address is released', async () => {
    await makeNetworkAndSubnet(scene, 'doomed', '10.8.0.0/24');
    await makePod(scene, 'last', 'doomed');
    await waitForAddress(scene, 'last', 'doomed');
    await scene.kubernetes.remove('Subnet', 'doomed');
    await waitForEvent(scene, 'doomed', 'SubnetInUse', /1 of its addresses are held, the first by Pod default\/last$/);
    expect(await listNames()).to.include('doomed');
    // Waits: before this, the API server rejects a change of the provider.
    await eventually(async () =>
      expect((await scene.kubernetes.get('Subnet', 'doomed')).status).to.include({ v4usingIPs: 1 }),
    );
    const moved = scene.kubernetes.patch('Subnet', 'doomed', { spec: { provider: 'other.default' } });
    expect(await moved.then(() => 'accepted', String)).to.contain(
      'spec.provider cannot change while addresses of the Subnet are in use',
    );
    await scene.kubernetes.remove('Pod', 'last');
    await eventually(async () => expect(await listNames()).to.not.include('doomed'));
  });

  it('KO-4898 all Subnet objects that are deleted together with a Pod of 15 attachments are removed, and so are its IP objects', async () => {
    const all = Array.from({ length: 15 }, (_, index) => `many-${index}`);
    await Promise.all(all.map((name, index) => makeNetworkAndSubnet(scene, name, `10.50.${index}.0/24`)));
    await makePod(scene, 'octopus', all.join());
    await Promise.all(all.map((name) => waitForAddress(scene, 'octopus', name)));
    await expectConsistency(scene.stack);
    await Promise.all([
      scene.kubernetes.remove('Pod', 'octopus'),
      ...all.map((name) => scene.kubernetes.remove('Subnet', name)),
    ]);
    await eventually(async () => {
      expect((await listNames()).filter((name) => name.startsWith('many-'))).to.deep.equal([]);
      const ips = (await scene.kubernetes.list('IP')).map(({ metadata }) => metadata.name);
      expect(ips.filter((name) => name.startsWith('octopus.'))).to.deep.equal([]);
    });
  });

  it('an Event reports Subnet objects that are deleted by force, and they can be created again under their name', async () => {
    await makeNetwork(scene, 'forced');
    await makeSubnet(scene, 'forced', { cidrBlock: '10.9.0.0/24' });
    await waitForReady('forced');
    await makePod(scene, 'stays', 'forced');
    const address = await waitForAddress(scene, 'stays', 'forced');
    await scene.kubernetes.remove('Subnet', 'forced');
    await eventually(() => scene.kubernetes.patch('Subnet', 'forced', { metadata: { finalizers: null } }));
    await eventually(async () => expect(await listNames()).to.not.include('forced'));
    await waitForEvent(scene, 'forced', 'SubnetInUse', /held, the first by Pod default\/stays$/);
    await makeSubnet(scene, 'forced', { cidrBlock: '10.9.0.0/24' });
    await waitForReady('forced');
    await makePod(scene, 'next', 'forced');
    expect(await waitForAddress(scene, 'next', 'forced')).to.not.equal(address);
  });

  it('Subnet objects with an invalid gateway type, protocol, vpc or allowSubnets are rejected by the API server', async () => {
    const rejection = async (name: string, spec: object): Promise<string> =>
      scene.kubernetes
        .create({ kind: 'Subnet', metadata: { name }, spec: { cidrBlock: '10.10.0.0/24', ...spec } })
        .then(
          () => 'accepted',
          (error: unknown) => String(error),
        );
    expect(await rejection('a', { gatewayType: 'unknown' })).to.contain('unknown is not a valid gateway type');
    expect(await rejection('a', { protocol: 'IPX' })).to.contain('IPX is not a valid protocol type');
    expect(await rejection('a', { vpc: 'a' })).to.contain('subnet a and vpc a cannot have the same name');
    expect(await rejection('a', { allowSubnets: ['10.18.0/16'] })).to.contain(
      '10.18.0/16 in allowSubnets is not a valid address',
    );
  });
});

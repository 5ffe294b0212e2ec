/** What a Subnet object shows of how the ledger understood it, and how it is held while its addresses are. */
import { expect } from 'chai';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import type { KubeObject } from './kubernetes.ts';
import {
  addressOf,
  eventOf,
  makeNetwork,
  makeNetworkAndSubnet,
  makePod,
  makeSubnet,
  openScene,
  type Scene,
} from './scene.ts';

const finalizer = 'ipledger.io/ledger';

describe('Subnet objects', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  const readyOf = ({ metadata, status }: KubeObject): unknown =>
    ((status?.['conditions'] ?? []) as { type: string; status: string; observedGeneration: number }[]).some(
      ({ type, status: is, observedGeneration }) =>
        type === 'Ready' && is === 'True' && observedGeneration === (metadata as { generation?: number }).generation,
    );
  const ready = (name: string): Promise<KubeObject> =>
    eventually(async () => {
      const subnet = await scene.kubernetes.get('Subnet', name);
      expect(readyOf(subnet), JSON.stringify(subnet.status)).to.equal(true);
      return subnet;
    });
  const names = async (): Promise<string[]> =>
    (await scene.kubernetes.list('Subnet')).map(({ metadata }) => metadata.name);

  it('show their spec as it is in force, once, and nothing that is not theirs', async () => {
    const spec = { cidrBlock: '10.5.0.7/24', excludeIps: ['10.5.0.9..10.5.0.12', '10.5.0.10'] };
    await makeSubnet(scene, 'plain', spec);
    const { spec: shown, metadata } = await ready('plain');
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

  it('of Kube-OVN’s own networks have its defaults, too', async () => {
    await makeSubnet(scene, 'overlay', { cidrBlock: '10.6.0.0/24', provider: '' });
    expect((await ready('overlay')).spec).to.include({
      provider: 'ovn',
      vpc: 'ovn-cluster',
      gatewayType: 'distributed',
    });
  });

  it('are written as their owner writes them again, and put right again', async () => {
    await makeSubnet(scene, 'again', { cidrBlock: '10.7.0.0/24' });
    await ready('again');
    await scene.kubernetes.patch('Subnet', 'again', { spec: { protocol: 'IPv6', excludeIps: ['10.7.0.5'] } });
    await eventually(async () =>
      expect((await ready('again')).spec).to.deep.include({ protocol: 'IPv4', excludeIps: ['10.7.0.1', '10.7.0.5'] }),
    );
  });

  it('whose finalizer was taken away get it again', async () => {
    await scene.kubernetes.patch('Subnet', 'again', { metadata: { finalizers: null } });
    await eventually(async () => expect((await ready('again')).metadata.finalizers).to.deep.equal([finalizer]));
  });

  it('that are deleted while in use stay until the last address is given back', async () => {
    await makeNetworkAndSubnet(scene, 'doomed', '10.8.0.0/24');
    await makePod(scene, 'last', 'doomed');
    await addressOf(scene, 'last', 'doomed');
    await scene.kubernetes.remove('Subnet', 'doomed');
    await eventOf(scene, 'doomed', 'SubnetInUse', /1 of its addresses are held, the first by Pod default\/last$/);
    expect(await names()).to.include('doomed');
    // The API server itself keeps the Subnet on its network meanwhile.
    await eventually(async () =>
      expect((await scene.kubernetes.get('Subnet', 'doomed')).status).to.include({ v4usingIPs: 1 }),
    );
    const moved = scene.kubernetes.patch('Subnet', 'doomed', { spec: { provider: 'other.default' } });
    expect(await moved.then(() => 'taken', String)).to.contain(
      'spec.provider cannot change while addresses of the Subnet are in use',
    );
    await scene.kubernetes.remove('Pod', 'last');
    await eventually(async () => expect(await names()).to.not.include('doomed'));
  });

  it('KO-4898 that are deleted together with a Pod of fifteen attachments all go, and its IP objects', async () => {
    const all = Array.from({ length: 15 }, (_, index) => `many-${index}`);
    await Promise.all(all.map((name, index) => makeNetworkAndSubnet(scene, name, `10.50.${index}.0/24`)));
    await makePod(scene, 'octopus', all.join());
    await Promise.all(all.map((name) => addressOf(scene, 'octopus', name)));
    await expectAgreement(scene.stack);
    await Promise.all([
      scene.kubernetes.remove('Pod', 'octopus'),
      ...all.map((name) => scene.kubernetes.remove('Subnet', name)),
    ]);
    await eventually(async () => {
      expect((await names()).filter((name) => name.startsWith('many-'))).to.deep.equal([]);
      const ips = (await scene.kubernetes.list('IP')).map(({ metadata }) => metadata.name);
      expect(ips.filter((name) => name.startsWith('octopus.'))).to.deep.equal([]);
    });
  });

  it('that were deleted by force are told of, and make way for another of their name', async () => {
    await makeNetwork(scene, 'forced');
    await makeSubnet(scene, 'forced', { cidrBlock: '10.9.0.0/24' });
    await ready('forced');
    await makePod(scene, 'stays', 'forced');
    const address = await addressOf(scene, 'stays', 'forced');
    await scene.kubernetes.remove('Subnet', 'forced');
    await eventually(() => scene.kubernetes.patch('Subnet', 'forced', { metadata: { finalizers: null } }));
    await eventually(async () => expect(await names()).to.not.include('forced'));
    await eventOf(scene, 'forced', 'SubnetInUse', /held, the first by Pod default\/stays$/);
    await makeSubnet(scene, 'forced', { cidrBlock: '10.9.0.0/24' });
    await ready('forced');
    await makePod(scene, 'next', 'forced');
    expect(await addressOf(scene, 'next', 'forced')).to.not.equal(address);
  });

  it('of which neither type nor name fit are not even taken', async () => {
    const refusal = async (name: string, spec: object): Promise<string> =>
      scene.kubernetes
        .create({ kind: 'Subnet', metadata: { name }, spec: { cidrBlock: '10.10.0.0/24', ...spec } })
        .then(
          () => 'taken',
          (error: unknown) => String(error),
        );
    expect(await refusal('a', { gatewayType: 'damn' })).to.contain('damn is not a valid gateway type');
    expect(await refusal('a', { protocol: 'IPX' })).to.contain('IPX is not a valid protocol type');
    expect(await refusal('a', { vpc: 'a' })).to.contain('subnet a and vpc a cannot have the same name');
    expect(await refusal('a', { allowSubnets: ['10.18.0/16'] })).to.contain(
      '10.18.0/16 in allowSubnets is not a valid address',
    );
  });
});

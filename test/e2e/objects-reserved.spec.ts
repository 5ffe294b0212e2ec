/** IP and Vip objects that people make to hold an address: for a Pod to come, or under a name of its own. */
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { addressOf, eventOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

describe('objects that hold an address', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.4.0.0/24');
  });
  after(() => scene?.run.end());

  const labelOf = async (kind: 'IP' | 'Vip', name: string): Promise<string | undefined> =>
    (await scene.kubernetes.get(kind, name)).metadata.labels?.['ovn.kubernetes.io/ip_reserved'];

  it('WB-111 an IP is filled in, kept for its Pod, and outlives it', async () => {
    const name = 'db-0.default.lan.default';
    const spec = { podName: 'db-0', namespace: 'default', subnet: 'lan' };
    await scene.kubernetes.create({ kind: 'IP', metadata: { name }, spec });
    const held = await eventually(async () => {
      const shown = (await scene.kubernetes.get('IP', name)).spec ?? {};
      expect(shown).to.include({ v4IpAddress: '10.4.0.2', ipAddress: '10.4.0.2' });
      return shown['v4IpAddress'];
    });
    expect(await labelOf('IP', name)).to.equal('true');
    await makePod(scene, 'other', 'lan');
    expect(await addressOf(scene, 'other', 'lan')).to.equal('10.4.0.3');
    await makePod(scene, 'db-0', 'lan');
    expect(await addressOf(scene, 'db-0', 'lan')).to.equal(held);
    await eventually(async () =>
      expect((await scene.kubernetes.get('IP', name)).spec).to.include({ nodeName: 'node-1' }),
    );
    await scene.kubernetes.remove('Pod', 'db-0');
    await eventually(async () =>
      expect((await scene.kubernetes.get('IP', name)).metadata.annotations).to.equal(undefined),
    );
    expect(await labelOf('IP', name)).to.equal('true');
    await scene.kubernetes.remove('IP', name);
    await eventually(async () => {
      const left = await scene.kubernetes.list('IP');
      expect(left.map(({ metadata }) => metadata.name)).to.not.include(name);
    });
  });

  it('a Vip has an address of its own, which stays its own until it goes', async () => {
    await scene.kubernetes.create({
      kind: 'Vip',
      metadata: { name: 'web' },
      spec: { subnet: 'lan', v4ip: '10.4.0.9' },
    });
    await eventually(async () =>
      expect((await scene.kubernetes.get('Vip', 'web')).status).to.include({ v4ip: '10.4.0.9' }),
    );
    expect(await labelOf('Vip', 'web')).to.equal('');
    const moved = await scene.kubernetes.patch('Vip', 'web', { spec: { v4ip: '10.4.0.10' } }).catch(String);
    expect(moved).to.contain('vip web v4ip can not change');
    await makePod(scene, 'thief', 'lan', { 'lan.default.kubernetes.io/ip_address': '10.4.0.9' });
    await makePod(scene, 'owner', 'lan', { 'ovn.kubernetes.io/vip': 'web' });
    expect(await addressOf(scene, 'owner', 'lan')).to.equal('10.4.0.9');
    await eventually(async () => expect(await labelOf('Vip', 'web')).to.equal('owner.default.lan.default'));
    await makePod(scene, 'second', 'lan', { 'ovn.kubernetes.io/vip': 'web' });
    await eventOf(scene, 'second', 'AcquireAddressFailed', /vip 'web' is in use by pod default\/owner/);
    await scene.kubernetes.remove('Pod', 'second');
    await scene.kubernetes.remove('Pod', 'owner');
    await eventually(async () => expect(await labelOf('Vip', 'web')).to.equal(''));
    await scene.kubernetes.remove('Vip', 'web');
    expect(await addressOf(scene, 'thief', 'lan')).to.equal('10.4.0.9');
  });
});

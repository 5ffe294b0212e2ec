/** Tests IP and Vip objects that reserve an address, for a later Pod or a virtual IP. */
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('objects that reserve an address', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.4.0.0/24');
  });
  after(() => scene?.run.end());

  const labelOf = async (kind: 'IP' | 'Vip', name: string): Promise<string | undefined> =>
    (await scene.kubernetes.get(kind, name)).metadata.labels?.['ovn.kubernetes.io/ip_reserved'];

  it('WB-111 an IP object gets an address, keeps it for its Pod, and stays after the Pod is deleted', async () => {
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
    expect(await waitForAddress(scene, 'other', 'lan')).to.equal('10.4.0.3');
    await makePod(scene, 'db-0', 'lan');
    expect(await waitForAddress(scene, 'db-0', 'lan')).to.equal(held);
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
      const remaining = await scene.kubernetes.list('IP');
      expect(remaining.map(({ metadata }) => metadata.name)).to.not.include(name);
    });
  });

  it('a Vip reserves its address until it is deleted', async () => {
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
    expect(await waitForAddress(scene, 'owner', 'lan')).to.equal('10.4.0.9');
    await eventually(async () => expect(await labelOf('Vip', 'web')).to.equal('owner.default.lan.default'));
    await makePod(scene, 'second', 'lan', { 'ovn.kubernetes.io/vip': 'web' });
    await waitForEvent(scene, 'second', 'AcquireAddressFailed', /vip 'web' is in use by pod default\/owner/);
    await scene.kubernetes.remove('Pod', 'second');
    await scene.kubernetes.remove('Pod', 'owner');
    await eventually(async () => expect(await labelOf('Vip', 'web')).to.equal(''));
    await scene.kubernetes.remove('Vip', 'web');
    expect(await waitForAddress(scene, 'thief', 'lan')).to.equal('10.4.0.9');
  });
});

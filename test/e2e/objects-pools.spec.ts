/** IPPool objects: parts of a Subnet that are drawn from by name only. */
import { expect } from 'chai';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { addressOf, eventOf, makeNetworkAndSubnet, makePod, openScene, type Scene } from './scene.ts';

describe('IPPool objects', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
    await makeNetworkAndSubnet(scene, 'lan', '10.4.0.0/24');
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  const makePool = (name: string, spec: object) =>
    scene.kubernetes.create({ kind: 'IPPool', metadata: { name }, spec: { subnet: 'lan', ...spec } });
  const shows = (name: string, status: object): Promise<void> =>
    eventually(async () => {
      expect((await scene.kubernetes.get('IPPool', name)).status).to.deep.include(status);
    });

  it('are counted and drawn from by those who name them, and by nobody else', async () => {
    await makePool('web', { ips: ['10.4.0.2..10.4.0.4', '10.4.0.100/31'] });
    await eventOf(scene, 'web', 'UpdateIPAMSucceeded', /./);
    await shows('web', {
      v4AvailableIPs: 5,
      v4UsingIPs: 0,
      v4AvailableIPRange: '10.4.0.2-10.4.0.4,10.4.0.100-10.4.0.101',
      v4UsingIPRange: '',
      v6AvailableIPs: 0,
      v6UsingIPs: 0,
    });
    await makePod(scene, 'anyone', 'lan');
    expect(await addressOf(scene, 'anyone', 'lan')).to.equal('10.4.0.5');
    await makePod(scene, 'drawing', 'lan', { 'lan.default.kubernetes.io/ip_pool': 'web' });
    expect(await addressOf(scene, 'drawing', 'lan')).to.equal('10.4.0.2');
    await shows('web', { v4AvailableIPs: 4, v4UsingIPs: 1, v4UsingIPRange: '10.4.0.2' });
  });

  it('SP-746 may not share addresses, and take them as soon as they are let go', async () => {
    await makePool('greedy', { ips: ['10.4.0.4..10.4.0.9'] });
    await eventOf(scene, 'greedy', 'UpdateIPAMFailed', /ippool greedy has conflict IPs with ippool web: 10\.4\.0\.4$/);
    await makePool('early', { subnet: 'later', ips: ['10.5.0.4'] });
    await eventOf(scene, 'early', 'UpdateIPAMFailed', /subnet later does not exist in IPAM/);
    await makeNetworkAndSubnet(scene, 'later', '10.5.0.0/24');
    await shows('early', { v4AvailableIPs: 1 });
    await scene.kubernetes.remove('IPPool', 'web');
    await shows('greedy', { v4AvailableIPs: 5, v4UsingIPs: 1, v4UsingIPRange: '10.4.0.5' });
  });

  it('stay in their Subnet', async () => {
    const moved = await scene.kubernetes.patch('IPPool', 'greedy', { spec: { subnet: 'later' } }).catch(String);
    expect(moved).to.contain('ippool greedy subnet can not change');
  });
});

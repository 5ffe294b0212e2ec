/** Tests IPPool objects: parts of a Subnet that serve only the Pods that name them. */
import { expect } from 'chai';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetworkAndSubnet,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('IPPool objects', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    await makeNetworkAndSubnet(scene, 'lan', '10.4.0.0/24');
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  const makePool = (name: string, spec: object) =>
    scene.kubernetes.create({ kind: 'IPPool', metadata: { name }, spec: { subnet: 'lan', ...spec } });
  const expectStatus = (name: string, status: object): Promise<void> =>
    eventually(async () => {
      expect((await scene.kubernetes.get('IPPool', name)).status).to.deep.include(status);
    });

  it('IPPool objects count their addresses, and serve only Pods that name them', async () => {
    await makePool('web', { ips: ['10.4.0.2..10.4.0.4', '10.4.0.100/31'] });
    await waitForEvent(scene, 'web', 'UpdateIPAMSucceeded', /./);
    await expectStatus('web', {
      v4AvailableIPs: 5,
      v4UsingIPs: 0,
      v4AvailableIPRange: '10.4.0.2-10.4.0.4,10.4.0.100-10.4.0.101',
      v4UsingIPRange: '',
      v6AvailableIPs: 0,
      v6UsingIPs: 0,
    });
    await makePod(scene, 'other', 'lan');
    expect(await waitForAddress(scene, 'other', 'lan')).to.equal('10.4.0.5');
    await makePod(scene, 'drawing', 'lan', { 'lan.default.kubernetes.io/ip_pool': 'web' });
    expect(await waitForAddress(scene, 'drawing', 'lan')).to.equal('10.4.0.2');
    await expectStatus('web', { v4AvailableIPs: 4, v4UsingIPs: 1, v4UsingIPRange: '10.4.0.2' });
  });

  it('SP-746 an IPPool cannot share addresses with another, and gets them when the other is deleted', async () => {
    await makePool('greedy', { ips: ['10.4.0.4..10.4.0.9'] });
    await waitForEvent(
      scene,
      'greedy',
      'UpdateIPAMFailed',
      /ippool greedy has conflict IPs with ippool web: 10\.4\.0\.4$/,
    );
    await makePool('early', { subnet: 'later', ips: ['10.5.0.4'] });
    await waitForEvent(scene, 'early', 'UpdateIPAMFailed', /subnet later does not exist in IPAM/);
    await makeNetworkAndSubnet(scene, 'later', '10.5.0.0/24');
    await expectStatus('early', { v4AvailableIPs: 1 });
    await scene.kubernetes.remove('IPPool', 'web');
    await expectStatus('greedy', { v4AvailableIPs: 5, v4UsingIPs: 1, v4UsingIPRange: '10.4.0.5' });
  });

  it('An IPPool cannot move to another Subnet', async () => {
    const moved = await scene.kubernetes.patch('IPPool', 'greedy', { spec: { subnet: 'later' } }).catch(String);
    expect(moved).to.contain('ippool greedy subnet can not change');
  });
});

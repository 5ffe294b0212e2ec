/** What the owner of a Subnet can say about its tenants: whose Pods may use it, how many addresses they hold, how long these rest. */
import { expect } from 'chai';
import { call, connect } from '../../lib/rpc.ts';
import { SubnetsService } from '../../proto/ipledger.ts';
import { expectAgreement } from './agreement.ts';
import { eventually } from './eventually.ts';
import { addressOf, eventOf, makeNetwork, makePod, openScene, type Scene } from './scene.ts';

describe('the tenants of a Subnet', function () {
  this.timeout(120_000);
  let scene: Scene;
  before(async () => {
    scene = await openScene();
  });
  after(() => scene?.run.end());
  afterEach(() => expectAgreement(scene.stack));

  const make = (name: string, cidrBlock: string, spec: object) =>
    scene.kubernetes.create({
      kind: 'Subnet',
      metadata: { name },
      spec: { provider: `${name}.default`, cidrBlock, ...spec },
    });
  const change = (name: string, spec: object) => scene.kubernetes.patch('Subnet', name, { spec });

  it('are refused where spec.namespaces does not list theirs, however they ask, until it does', async () => {
    await makeNetwork(scene, 'closed');
    await make('closed', '10.71.0.0/24', { namespaces: ['shop'] });
    await makePod(scene, 'by-provider', 'closed');
    await makePod(scene, 'by-name', 'closed', { 'closed.default.kubernetes.io/logical_switch': 'closed' });
    await makePod(scene, 'by-address', 'closed', { 'closed.default.kubernetes.io/ip_address': '10.71.0.9' });
    const all = ['by-provider', 'by-name', 'by-address'];
    for (const pod of all)
      await eventOf(
        scene,
        pod,
        'PodNetworkUpdateFailed',
        /Subnet closed is for namespace shop, not for namespace default: name another Subnet, or add default to spec\.namespaces/,
      );
    await change('closed', { namespaces: ['shop', 'default'] });
    for (const pod of all) await addressOf(scene, pod, 'closed');
    expect(await addressOf(scene, 'by-address', 'closed')).to.equal('10.71.0.9');
  });

  it('keep what they hold when spec.namespaces leaves them out, and get no more', async () => {
    await change('closed', { namespaces: ['shop'] });
    await makePod(scene, 'late', 'closed');
    await eventOf(scene, 'late', 'PodNetworkUpdateFailed', /Subnet closed is for namespace shop/);
    expect(await addressOf(scene, 'by-address', 'closed')).to.equal('10.71.0.9');
    await scene.kubernetes.remove('Pod', 'late');
  });

  it('hold no more addresses than maxAddressesPerNamespace, and more when it is raised', async () => {
    await makeNetwork(scene, 'limited');
    await make('limited', '10.72.0.0/24', { maxAddressesPerNamespace: 2 });
    for (const pod of ['one', 'two']) {
      await makePod(scene, pod, 'limited');
      await addressOf(scene, pod, 'limited');
    }
    for (const pod of ['three', 'four']) {
      await makePod(scene, pod, 'limited');
      await eventOf(
        scene,
        pod,
        'AcquireAddressFailed',
        /namespace default holds 2 addresses of subnet limited, the limit is 2 .*raise the limit in the Subnet/,
      );
    }
    await scene.kubernetes.remove('Pod', 'one');
    await addressOf(scene, 'three', 'limited');
    await change('limited', { maxAddressesPerNamespace: 3 });
    await addressOf(scene, 'four', 'limited');
  });

  it('wait as long as cooldownSeconds and bindingTimeoutSeconds say; a change of them reaches the ledger', async () => {
    const inLedger = async () => {
      const client = connect(scene.stack.allocator.endpoint, undefined);
      try {
        const { subnet } = await call(client, SubnetsService.getSubnet, { name: 'resting' }, { timeoutMs: 10_000 });
        return subnet?.spec;
      } finally {
        client.close();
      }
    };
    await make('resting', '10.73.0.0/24', { cooldownSeconds: 300, bindingTimeoutSeconds: 7_200 });
    await eventually(async () =>
      expect(await inLedger()).to.include({ cooldownMs: 300_000, bindingTimeoutMs: 7_200_000 }),
    );
    await change('resting', { cooldownSeconds: 0, bindingTimeoutSeconds: null });
    await eventually(async () => expect(await inLedger()).to.include({ cooldownMs: 0, bindingTimeoutMs: 3_600_000 }));
  });

  it('are not told numbers that make no sense: the API server refuses them', async () => {
    const wrong = [
      { cooldownSeconds: -1 },
      { cooldownSeconds: '5m' },
      { bindingTimeoutSeconds: 59 },
      { bindingTimeoutSeconds: 2_592_001 },
      { maxAddressesPerNamespace: 0 },
    ];
    for (const spec of wrong) {
      const [field = ''] = Object.keys(spec);
      expect(await make('wrong', '10.74.0.0/24', spec).then(() => 'taken', String)).to.contain(`spec.${field}`);
    }
  });

  it('are refused while spec.namespaceSelectors is misspelt, and the condition says what', async () => {
    await make('misspelt', '10.77.0.0/24', { namespaceSelectors: [{ matchlabels: { team: 'a' } }] });
    await eventOf(
      scene,
      'misspelt',
      'ValidateLogicalSwitchFailed',
      /spec\.namespaceSelectors must be a list of label selectors/,
    );
  });

  it('are not kept apart by spec.private: condition and Event report that it has no effect', async () => {
    await make('private', '10.75.0.0/24', { private: true, allowSubnets: ['10.76.0.0/24'] });
    await eventOf(scene, 'private', 'PrivateNotEnforced', /have no effect: ipledger gives addresses and filters no/);
    const conditions = async () => {
      const { status } = await scene.kubernetes.get('Subnet', 'private');
      const all = (status?.['conditions'] ?? []) as { type: string; status: string }[];
      return all.map(({ type, status: is }) => `${type}=${is}`);
    };
    await eventually(async () =>
      expect(await conditions()).to.include.members(['Ready=True', 'PrivateEnforced=False']),
    );
    await change('private', { private: false, allowSubnets: null });
    await eventually(async () => expect((await conditions()).join()).to.not.contain('PrivateEnforced'));
  });
});

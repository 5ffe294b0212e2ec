/**
 * Tests the rules of a Subnet for its tenants: namespaces, the number of addresses per namespace,
 * and cooldowns.
 */
import { expect } from 'chai';
import { noBindingTimeoutMs } from '../../../ledger/domain/commands/command.ts';
import { call, connect } from '../../../lib/grpc/client.ts';
import { SubnetsService } from '../../../proto/generated/ipledger.ts';
import { expectConsistency } from '../support/consistency.ts';
import { eventually } from '../support/eventually.ts';
import {
  waitForAddress,
  waitForEvent,
  makeNetwork,
  makePod,
  openTestEnvironment,
  type TestEnvironment,
} from '../support/test-environment.ts';

describe('the tenants of a Subnet', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
  });
  after(() => scene?.run.end());
  afterEach(() => expectConsistency(scene.stack));

  const createSubnet = (name: string, cidrBlock: string, spec: object) =>
    scene.kubernetes.create({
      kind: 'Subnet',
      metadata: { name },
      spec: { provider: `${name}.default`, cidrBlock, ...spec },
    });
  const patchSubnet = (name: string, spec: object) => scene.kubernetes.patch('Subnet', name, { spec });

  it('tenants are refused until spec.namespaces lists their namespace, whether they name a provider, Subnet or address', async () => {
    await makeNetwork(scene, 'closed');
    await createSubnet('closed', '10.71.0.0/24', { namespaces: ['shop'] });
    await makePod(scene, 'by-provider', 'closed');
    await makePod(scene, 'by-name', 'closed', { 'closed.default.kubernetes.io/logical_switch': 'closed' });
    await makePod(scene, 'by-address', 'closed', { 'closed.default.kubernetes.io/ip_address': '10.71.0.9' });
    const all = ['by-provider', 'by-name', 'by-address'];
    for (const pod of all)
      await waitForEvent(
        scene,
        pod,
        'PodNetworkUpdateFailed',
        /Subnet closed is for namespace shop, not for namespace default: name another Subnet, or add default to spec\.namespaces/,
      );
    await patchSubnet('closed', { namespaces: ['shop', 'default'] });
    for (const pod of all) await waitForAddress(scene, pod, 'closed');
    expect(await waitForAddress(scene, 'by-address', 'closed')).to.equal('10.71.0.9');
  });

  it('tenants keep their addresses, and get no more, when spec.namespaces no longer lists their namespace', async () => {
    await patchSubnet('closed', { namespaces: ['shop'] });
    await makePod(scene, 'late', 'closed');
    await waitForEvent(scene, 'late', 'PodNetworkUpdateFailed', /Subnet closed is for namespace shop/);
    expect(await waitForAddress(scene, 'by-address', 'closed')).to.equal('10.71.0.9');
    await scene.kubernetes.remove('Pod', 'late');
  });

  it('tenants hold at most maxAddressesPerNamespace addresses, and more after the limit is raised', async () => {
    await makeNetwork(scene, 'limited');
    await createSubnet('limited', '10.72.0.0/24', { maxAddressesPerNamespace: 2 });
    for (const pod of ['one', 'two']) {
      await makePod(scene, pod, 'limited');
      await waitForAddress(scene, pod, 'limited');
    }
    for (const pod of ['three', 'four']) {
      await makePod(scene, pod, 'limited');
      await waitForEvent(
        scene,
        pod,
        'AcquireAddressFailed',
        /namespace default holds 2 addresses of subnet limited, the limit is 2 .*raise the limit in the Subnet/,
      );
    }
    await scene.kubernetes.remove('Pod', 'one');
    // Accepts either Pod: Pods of one second have no creation order.
    const first = await Promise.any(
      ['three', 'four'].map(async (pod) => waitForAddress(scene, pod, 'limited').then(() => pod)),
    );
    await patchSubnet('limited', { maxAddressesPerNamespace: 3 });
    await waitForAddress(scene, first === 'three' ? 'four' : 'three', 'limited');
  });

  it('tenants wait for cooldownSeconds and bindingTimeoutSeconds, and a change of these fields reaches the ledger', async () => {
    const specInLedger = async () => {
      const client = connect(scene.stack.allocator.endpoint, undefined);
      try {
        const { subnet } = await call(client, SubnetsService.getSubnet, { name: 'timed' }, { timeoutMs: 10_000 });
        return subnet?.spec;
      } finally {
        client.close();
      }
    };
    await createSubnet('timed', '10.73.0.0/24', { cooldownSeconds: 300, bindingTimeoutSeconds: 7_200 });
    await eventually(async () =>
      expect(await specInLedger()).to.include({ cooldownMs: 300_000, bindingTimeoutMs: 7_200_000 }),
    );
    await patchSubnet('timed', { cooldownSeconds: 0, bindingTimeoutSeconds: null });
    await eventually(async () =>
      expect(await specInLedger()).to.include({ cooldownMs: 0, bindingTimeoutMs: noBindingTimeoutMs }),
    );
  });

  it('the API server rejects invalid limits of a Subnet', async () => {
    const invalid = [
      { cooldownSeconds: -1 },
      { cooldownSeconds: '5m' },
      { bindingTimeoutSeconds: 59 },
      { bindingTimeoutSeconds: 2_592_001 },
      { maxAddressesPerNamespace: 0 },
    ];
    for (const spec of invalid) {
      const [field = ''] = Object.keys(spec);
      expect(await createSubnet('invalid', '10.74.0.0/24', spec).then(() => 'accepted', String)).to.contain(
        `spec.${field}`,
      );
    }
  });

  it('an Event reports a Subnet with a misspelt field in spec.namespaceSelectors', async () => {
    await createSubnet('misspelt', '10.77.0.0/24', { namespaceSelectors: [{ matchlabels: { team: 'a' } }] });
    await waitForEvent(
      scene,
      'misspelt',
      'ValidateLogicalSwitchFailed',
      /spec\.namespaceSelectors must be a list of label selectors/,
    );
  });

  it('condition and Event report that spec.private has no effect', async () => {
    await createSubnet('private', '10.75.0.0/24', { private: true, allowSubnets: ['10.76.0.0/24'] });
    await waitForEvent(
      scene,
      'private',
      'PrivateNotEnforced',
      /have no effect: ipledger gives addresses and filters no/,
    );
    const conditions = async () => {
      const { status } = await scene.kubernetes.get('Subnet', 'private');
      const all = (status?.['conditions'] ?? []) as { type: string; status: string }[];
      return all.map(({ type, status: is }) => `${type}=${is}`);
    };
    await eventually(async () =>
      expect(await conditions()).to.include.members(['Ready=True', 'PrivateEnforced=False']),
    );
    await patchSubnet('private', { private: false, allowSubnets: null });
    await eventually(async () => expect((await conditions()).join()).to.not.contain('PrivateEnforced'));
  });
});

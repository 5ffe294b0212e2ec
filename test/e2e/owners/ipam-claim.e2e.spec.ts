/** Tests IPAMClaims: addresses that stay from one Pod to the next until the claim is deleted. */
import { expect } from 'chai';
import { documentedCommands } from '../../docs/documented-commands.ts';
import { virtualMachineCrds } from '../../harness/kubernetes/kubevirt-crds.ts';
import { readLastEvent } from '../support/attachments.ts';
import { eventually } from '../support/eventually.ts';
import type { KubeObject } from '../../harness/kubernetes/kubernetes-client.ts';
import {
  makeNetworkAndSubnet,
  makePod,
  networksAnnotation,
  openTestEnvironment,
  type TestEnvironment,
  waitForAddress,
  waitForEvent,
} from '../support/test-environment.ts';

describe('an IPAMClaim', function () {
  this.timeout(180_000);
  let scene: TestEnvironment;
  before(async () => {
    scene = await openTestEnvironment();
    for (const definition of virtualMachineCrds) await scene.kubernetes.create(definition);
    await eventually(() => scene.kubernetes.list('VirtualMachineInstance'));
    // Restarts the watcher, which looks for missing kinds only every 30 s.
    await scene.stack.watcher.stop();
    await scene.stack.watcher.start();
    await makeNetworkAndSubnet(scene, 'lan', '10.21.0.0/24');
  });
  after(() => scene?.run.end());

  const selection = (claim: string): string => JSON.stringify([{ name: 'lan', 'ipam-claim-reference': claim }]);
  const makeClaimant = (name: string, claim: string) => makePod(scene, name, selection(claim));

  const makeClaim = (name: string, spec: object) =>
    scene.kubernetes.create({ kind: 'IPAMClaim', metadata: { name }, spec });

  /** Waits until the status of a claim has these addresses and this Pod; "" means no Pod. */
  const waitForStatus = (claim: string, ips: readonly string[], ownerPod: string): Promise<KubeObject> =>
    eventually(async () => {
      const object = await scene.kubernetes.get('IPAMClaim', claim);
      const { status = {} } = object;
      expect(status['ips']).to.deep.equal(ips);
      expect(status['ownerPod'] ?? { name: '' }).to.deep.equal({ name: ownerPod });
      return object;
    });

  const conditionOf = ({ status = {} }: KubeObject) => (status['conditions'] as Record<string, unknown>[])[0];

  it('an IPAMClaim keeps its address from Pod to Pod, and releases it when the claim is deleted', async () => {
    await makeClaim('vm1', { network: 'lan', interface: '' });
    await makeClaimant('first', 'vm1');
    const address = await waitForAddress(scene, 'first', 'lan');
    const claim = await waitForStatus('vm1', [`${address}/24`], 'first');
    expect(claim.spec).to.deep.equal({ network: 'lan', interface: '' });
    expect(claim.metadata.finalizers).to.deep.equal(['ipledger.io/ledger']);
    expect(conditionOf(claim)).to.include({ type: 'IPsAllocated', status: 'True', reason: 'SuccessfulAllocation' });

    await scene.kubernetes.remove('Pod', 'first');
    await waitForStatus('vm1', [`${address}/24`], '');
    await makePod(scene, 'thief', 'lan', { 'lan.default.kubernetes.io/ip_address': address });
    await waitForEvent(scene, 'thief', 'AcquireAddressFailed', /reserved for ipamclaim\/default\/vm1/);
    await makeClaimant('second', 'vm1');
    expect(await waitForAddress(scene, 'second', 'lan')).to.equal(address);

    await makeClaimant('third', 'vm1');
    await waitForEvent(scene, 'third', 'AcquireAddressFailed', /is in use by Pod default\/second/);
    await scene.kubernetes.patch(
      'IPAMClaim',
      'vm1',
      { status: { ips: ['10.21.0.99/24'], ownerPod: { name: 'thief' } } },
      'status',
    );
    await waitForStatus('vm1', [`${address}/24`], 'second');
    await scene.kubernetes.remove('Pod', 'second');
    expect(await waitForAddress(scene, 'third', 'lan')).to.equal(address);

    await scene.kubernetes.remove('IPAMClaim', 'vm1');
    await waitForEvent(scene, 'vm1', 'IPAMClaimInUse', /Pod third uses/);
    await scene.kubernetes.remove('Pod', 'third');
    expect(await waitForAddress(scene, 'thief', 'lan')).to.equal(address);
    await waitForEvent(scene, 'vm1', 'Released', /the claim was deleted/);
    await eventually(async () => expect(await scene.kubernetes.list('IPAMClaim')).to.deep.equal([]));
  });

  it('an IPAMClaim serves a Pod that names it as in docs/annotations.md', async () => {
    await makeClaim('vm1.lan', { network: 'lan', interface: '' });
    await makePod(scene, 'documented', documentedCommands('docs/annotations.md', 'ipam-claim'));
    const address = await waitForAddress(scene, 'documented', 'lan');
    await waitForStatus('vm1.lan', [`${address}/24`], 'documented');
  });

  it('an IPAMClaim gets the addresses of its spec.ipRequests', async () => {
    await makeClaim('fixed', { network: 'lan', interface: 'net1', ipRequests: ['10.21.0.77/24'] });
    await makeClaimant('fixed-pod', 'fixed');
    expect(await waitForAddress(scene, 'fixed-pod', 'lan')).to.equal('10.21.0.77');
    await waitForStatus('fixed', ['10.21.0.77/24'], 'fixed-pod');
  });

  it('an IPAMClaim is created if a Pod names it, and is deleted with that Pod', async () => {
    await makeClaimant('causing', 'caused');
    const address = await waitForAddress(scene, 'causing', 'lan');
    const { uid } = (await scene.kubernetes.get('Pod', 'causing')).metadata;
    const { metadata } = await waitForStatus('caused', [`${address}/24`], 'causing');
    expect(metadata).to.have.deep.property('ownerReferences', [
      { apiVersion: 'v1', kind: 'Pod', name: 'causing', uid },
    ]);
    await scene.kubernetes.remove('Pod', 'causing');
    await eventually(async () => {
      const event = await readLastEvent(scene, 'lan', address);
      expect(JSON.stringify(event)).to.contain('IPAMClaim default/caused was deleted');
    });
  });

  it('the ledger records why the address of an IPAMClaim was released', async () => {
    await makeClaim('short', { network: 'lan', interface: '' });
    await makeClaimant('short', 'short');
    const address = await waitForAddress(scene, 'short', 'lan');
    await waitForStatus('short', [`${address}/24`], 'short');
    await scene.kubernetes.remove('Pod', 'short');
    await waitForStatus('short', [`${address}/24`], '');
    await scene.kubernetes.remove('IPAMClaim', 'short');
    await eventually(async () => {
      const event = await readLastEvent(scene, 'lan', address);
      expect(JSON.stringify(event)).to.contain('IPAMClaim default/short was deleted');
    });
  });

  it('a Pod cannot name an IPAMClaim of another namespace', async () => {
    await makeClaimant('foreign', 'other/vm1');
    await waitForEvent(scene, 'foreign', 'ValidatePodNetworkFailed', /name of an IPAMClaim in the Pod's namespace/);
  });

  it('an IPAMClaim that its producer created late serves both Pods of a migrating virtual machine, and its next start', async () => {
    const start = () =>
      eventually(() => scene.kubernetes.create({ kind: 'VirtualMachineInstance', metadata: { name: 'vm' }, spec: {} }));
    await eventually(() => scene.kubernetes.create({ kind: 'VirtualMachine', metadata: { name: 'vm' }, spec: {} }));
    const launch = (suffix: string, { metadata }: KubeObject) => {
      const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm', uid: metadata.uid };
      return scene.kubernetes.create({
        kind: 'Pod',
        metadata: {
          name: `virt-launcher-vm-${suffix}`,
          annotations: { [networksAnnotation]: selection('vm.lan') },
          ownerReferences: [{ ...owner, controller: true }],
        },
        spec: { nodeName: 'node-1', restartPolicy: 'Never', containers: [{ name: 'compute', image: 'compute' }] },
      });
    };
    const instance = await start();
    await launch('source', instance);
    // Given: the producer starts after the Pod, as ipam-extensions does after a power-up.
    await waitForEvent(scene, 'virt-launcher-vm-source', 'PodNetworkUpdateFailed', /vm\.lan .* check that it runs/);
    const machine = await scene.kubernetes.get('VirtualMachine', 'vm');
    const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm', uid: machine.metadata.uid };
    const ownerReferences = [{ ...owner, controller: true, blockOwnerDeletion: true }];
    const produced = { name: 'vm.lan', ownerReferences, finalizers: ['kubevirt.io/persistent-ipam'] };
    await scene.kubernetes.create({ kind: 'IPAMClaim', metadata: produced, spec: { network: 'lan', interface: '' } });
    const address = await waitForAddress(scene, 'virt-launcher-vm-source', 'lan');
    const { metadata } = await waitForStatus('vm.lan', [`${address}/24`], 'virt-launcher-vm-source');
    expect(metadata).to.have.deep.property('ownerReferences', ownerReferences);
    await launch('target', instance);
    expect(await waitForAddress(scene, 'virt-launcher-vm-target', 'lan')).to.equal(address);
    await scene.kubernetes.remove('Pod', 'virt-launcher-vm-source');
    await waitForStatus('vm.lan', [`${address}/24`], 'virt-launcher-vm-target');

    await scene.kubernetes.remove('Pod', 'virt-launcher-vm-target');
    await scene.kubernetes.remove('VirtualMachineInstance', 'vm');
    await waitForStatus('vm.lan', [`${address}/24`], '');
    await launch('again', await start());
    expect(await waitForAddress(scene, 'virt-launcher-vm-again', 'lan')).to.equal(address);

    // Expects the release with the machine, also while the producer is down and cannot remove its
    // finalizer.
    await scene.kubernetes.remove('Pod', 'virt-launcher-vm-again');
    await scene.kubernetes.remove('VirtualMachineInstance', 'vm');
    await waitForStatus('vm.lan', [`${address}/24`], '');
    await scene.kubernetes.remove('VirtualMachine', 'vm');
    // Waits for the garbage collector, which finds a new kind within 30 s.
    await scene.kubernetes.remove('IPAMClaim', 'vm.lan');
    await waitForEvent(scene, 'vm.lan', 'Released', /the claim was deleted/);
    await makePod(scene, 'next', 'lan', { 'lan.default.kubernetes.io/ip_address': address });
    expect(await waitForAddress(scene, 'next', 'lan')).to.equal(address);
    expect((await scene.kubernetes.get('IPAMClaim', 'vm.lan')).metadata.finalizers).to.deep.equal([
      'kubevirt.io/persistent-ipam',
    ]);
  });
});

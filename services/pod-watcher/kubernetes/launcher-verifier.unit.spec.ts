import { expect } from 'chai';
import { unverifiedLauncher, FakeInformer, mirrorOf, podNamed, silentLogger, until } from '../testing/fakes.ts';
import { isLauncher, isUnverifiedLauncher, LauncherVerifier } from './launcher-verifier.ts';
import type { ObjectChange } from '../../../lib/kubernetes/client/informer.ts';
import type { VirtualMachineObject } from './objects/virtual-machine.ts';
import type { Pod } from './objects/pod.ts';

describe('Pod that claims to run a virtual machine', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world(lookUp: (key: string) => Promise<VirtualMachineObject | undefined>) {
    const pods = new FakeInformer<Pod>();
    const lookUpMachines = async (key: string) => ({ VirtualMachineInstance: await lookUp(key) });
    const launchers = new LauncherVerifier({ pods, lookUpMachines, log: silentLogger, signal: stop.signal });
    const changes: ObjectChange<Pod>[] = [];
    launchers.subscribe((change) => changes.push(change));
    return { pods, launchers, changes, of: (name: string) => launchers.objects.get(`default/${name}`) };
  }
  const vm1 = { uid: 'uid-vm1', deleting: false };
  const name = 'virt-launcher-vm1-one';

  it('a Pod that claims to run a virtual machine keeps its own identity until the claim is verified, then has the identity of the machine', async () => {
    const { pods, of, changes } = world((key) => Promise.resolve(key === 'default/vm1' ? vm1 : undefined));
    pods.put(unverifiedLauncher('one'));
    const before = of(name);
    expect(before && isUnverifiedLauncher(before)).to.equal(true);
    expect(before).to.include({ ledgerName: name, ledgerUid: `uid-${name}` });
    await until(() => isLauncher(of(name) as Pod));
    expect(of(name)).to.include({ ledgerName: 'vm1', ledgerUid: 'uid-vm1' });
    expect(changes.at(-1)).to.deep.include({ kind: 'present', before });
  });

  it('a Pod that claims to run a virtual machine keeps the identity of its machine in the change that reports its deletion', async () => {
    const { pods, of, changes } = world(() => Promise.resolve(vm1));
    pods.put(unverifiedLauncher('one'));
    await until(() => isLauncher(of(name) as Pod));
    pods.drop(unverifiedLauncher('one', { metadata: { deletionTimestamp: '2026-01-31T08:00:00Z' } }));
    const { kind, object } = changes.at(-1) as Extract<ObjectChange<Pod>, { kind: 'gone' }>;
    expect([kind, object.ledgerName, object.deletionTimestamp]).to.deep.equal(['gone', 'vm1', '2026-01-31T08:00:00Z']);
    expect(of(name)).to.equal(undefined);
  });

  it('a Pod that claims to run a virtual machine is verified again after an error of the API server', async () => {
    let tries = 0;
    const { pods, of } = world(() => (++tries < 2 ? Promise.reject(new Error('no answer')) : Promise.resolve(vm1)));
    pods.put(unverifiedLauncher('one'));
    await until(() => isLauncher(of(name) as Pod));
    expect(tries).to.equal(2);
  });

  it('a verified launcher does not become another machine when its owner reference is edited', async () => {
    let lookups = 0;
    const { pods, of } = world(() => Promise.resolve((lookups++, vm1)));
    pods.put(podNamed(name));
    pods.put(unverifiedLauncher('one'));
    pods.put(unverifiedLauncher('two'));
    await until(() => lookups > 0 && isLauncher(of('virt-launcher-vm1-two') as Pod));
    expect(of(name)).to.include({ ledgerName: name, assertedMachine: undefined });
    expect(lookups).to.equal(1);
  });

  it('a Pod that claims nothing is stored once', () => {
    const { pods, of } = world(() => Promise.resolve(undefined));
    for (const phase of ['Pending', 'Running']) {
      const pod = podNamed('a', { status: { phase } });
      pods.put(pod);
      expect(of('a')).to.equal(pod);
    }
    pods.drop(podNamed('a'));
    expect(of('a')).to.equal(undefined);
  });

  it('a Pod keeps its first uid in the ledger when it is edited to look like a static Pod', () => {
    const { pods, of, changes } = world(() => Promise.resolve(undefined));
    const mirror = { ...mirrorOf('a', 'a'.repeat(32)), uid: 'uid-a' };
    pods.put(podNamed('a'));
    pods.put(mirror);
    expect(of('a')?.ledgerUid).to.equal('uid-a');
    pods.drop(mirror);
    expect((changes.at(-1) as Extract<ObjectChange<Pod>, { kind: 'gone' }>).object.ledgerUid).to.equal('uid-a');
    pods.put({ ...mirror, uid: 'second' });
    expect(of('a')?.ledgerUid).to.equal('a'.repeat(32));
  });
});

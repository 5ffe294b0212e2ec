import { expect } from 'chai';
import { claimant, FakeSource, podNamed, silent, until } from '../fakes.ts';
import { isLauncher, isUndecided, Launchers } from './launchers.ts';
import type { Change } from './list-watch.ts';
import type { Machine, Pod } from './objects.ts';

describe('Pods that claim to run a virtual machine', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world(lookUp: (key: string) => Promise<Machine | undefined>) {
    const pods = new FakeSource<Pod>();
    const lookUpMachines = async (key: string) => ({ VirtualMachineInstance: await lookUp(key) });
    const launchers = new Launchers({ pods, lookUpMachines, log: silent, signal: stop.signal });
    const changes: Change<Pod>[] = [];
    launchers.subscribe((change) => changes.push(change));
    return { pods, launchers, changes, of: (name: string) => launchers.objects.get(`default/${name}`) };
  }
  const vm1 = { uid: 'uid-vm1', deleting: false };
  const name = 'virt-launcher-vm1-one';

  it('are themselves, and undecided, until the machine was looked up; then the machine', async () => {
    const { pods, of, changes } = world((key) => Promise.resolve(key === 'default/vm1' ? vm1 : undefined));
    pods.put(claimant('one'));
    const before = of(name);
    expect(before && isUndecided(before)).to.equal(true);
    expect(before).to.include({ ledgerName: name, identity: `uid-${name}` });
    await until(() => isLauncher(of(name) as Pod));
    expect(of(name)).to.include({ ledgerName: 'vm1', identity: 'uid-vm1' });
    expect(changes.at(-1)).to.deep.include({ kind: 'present', before });
  });

  it('are the machine also in their last words', async () => {
    const { pods, of, changes } = world(() => Promise.resolve(vm1));
    pods.put(claimant('one'));
    await until(() => isLauncher(of(name) as Pod));
    pods.drop(claimant('one', { metadata: { deletionTimestamp: '2026-01-31T08:00:00Z' } }));
    const { kind, object } = changes.at(-1) as Extract<Change<Pod>, { kind: 'gone' }>;
    expect([kind, object.ledgerName, object.deletionTimestamp]).to.deep.equal(['gone', 'vm1', '2026-01-31T08:00:00Z']);
    expect(of(name)).to.equal(undefined);
  });

  it('are looked up again where the API could not say', async () => {
    let tries = 0;
    const { pods, of } = world(() => (++tries < 2 ? Promise.reject(new Error('no answer')) : Promise.resolve(vm1)));
    pods.put(claimant('one'));
    await until(() => isLauncher(of(name) as Pod));
    expect(tries).to.equal(2);
  });

  it('do not become a machine by an edit: who was a plain Pod at first stays one', async () => {
    let asked = 0;
    const { pods, of } = world(() => Promise.resolve((asked++, vm1)));
    pods.put(podNamed(name));
    pods.put(claimant('one'));
    pods.put(claimant('two'));
    await until(() => asked > 0 && isLauncher(of('virt-launcher-vm1-two') as Pod));
    expect(of(name)).to.include({ ledgerName: name, claims: undefined });
    expect(asked).to.equal(1);
  });
});

import { expect } from 'chai';
import { FakeInformer, launcher, podNamed } from '../testing/fakes.ts';
import { LedgerPods } from './ledger-pods.ts';
import type { Pod } from './objects/pod.ts';

describe('Pods by their name in the ledger', () => {
  const at = (createdAt: string) => ({ metadata: { creationTimestamp: createdAt } });
  function world() {
    const source = new FakeInformer<Pod>();
    return { source, pods: new LedgerPods(source) };
  }

  it('Pods by their name in the ledger are the Pods of the API server', () => {
    const { source, pods } = world();
    source.put(podNamed('a'));
    expect([...pods.keys()]).to.deep.equal(['default/a']);
    expect(pods.get('default/a')?.uid).to.equal('uid-a');
    source.drop(podNamed('a'));
    expect(pods.has('default/a')).to.equal(false);
  });

  it('Pods by their name in the ledger have a virtual machine in place of its launchers, while one exists', () => {
    const { source, pods } = world();
    const [one, two] = [launcher('one'), launcher('two')];
    source.put(one);
    source.put(two);
    expect([...pods.keys()]).to.deep.equal(['default/vm1']);
    source.drop(one);
    expect(pods.get('default/vm1')?.name).to.equal(two.name);
    source.drop(two);
    expect([...pods.keys()]).to.deep.equal([]);
  });

  it('Pods by their name in the ledger return the newest running launcher of a machine', () => {
    const { source, pods } = world();
    const ended = { status: { phase: 'Succeeded' } };
    source.put(launcher('c', { ...at('2026-01-31T08:03:00Z'), ...ended }));
    source.put(launcher('a', at('2026-01-31T08:01:00Z')));
    source.put(launcher('b', at('2026-01-31T08:02:00Z')));
    expect(pods.all('default/vm1').map(({ name }) => name.slice(-1))).to.deep.equal(['b', 'a', 'c']);
  });

  it('Pods by their name in the ledger are found by namespace after additions, deletions and new ledger names', () => {
    const { source, pods } = world();
    const elsewhere = podNamed('c', { metadata: { namespace: 'elsewhere' } });
    for (const pod of [podNamed('a'), podNamed('b'), launcher('one'), launcher('two'), elsewhere]) source.put(pod);
    source.drop(podNamed('b'));
    source.drop(launcher('one'));
    expect([...pods.ofNamespace('default')]).to.have.members(['default/a', 'default/vm1']);
    expect([...pods.ofNamespace('elsewhere')]).to.deep.equal(['elsewhere/c']);
    source.drop(launcher('two'));
    source.drop(elsewhere);
    expect([...pods.ofNamespace('default'), ...pods.ofNamespace('elsewhere')]).to.deep.equal(['default/a']);
  });

  it('Pods by their name in the ledger have no launcher after its owner reference was removed', () => {
    const { source, pods } = world();
    const one = launcher('one');
    source.put(one);
    const { name } = one;
    source.put(podNamed(name, { uid: one.uid }));
    expect([...pods.keys()]).to.deep.equal([`default/${name}`]);
    expect(pods.has('default/vm1')).to.equal(false);
  });
});

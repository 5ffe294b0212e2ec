import { expect } from 'chai';
import { FakeSource, launcher, podNamed } from '../fakes.ts';
import { LedgerPods } from './ledger-pods.ts';
import type { Pod } from './objects.ts';

describe('Pods by the name under which the ledger knows them', () => {
  const at = (createdAt: string) => ({ metadata: { creationTimestamp: createdAt } });
  function world() {
    const source = new FakeSource<Pod>();
    return { source, pods: new LedgerPods(source) };
  }

  it('are those of the API', () => {
    const { source, pods } = world();
    source.put(podNamed('a'));
    expect([...pods.keys()]).to.deep.equal(['default/a']);
    expect(pods.get('default/a')?.uid).to.equal('uid-a');
    source.drop(podNamed('a'));
    expect(pods.has('default/a')).to.equal(false);
  });

  it('are virtual machines in place of their launchers, as long as there is one', () => {
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

  it('are served by the launcher that lives, of several the youngest', () => {
    const { source, pods } = world();
    const ended = { status: { phase: 'Succeeded' } };
    source.put(launcher('c', { ...at('2026-01-31T08:03:00Z'), ...ended }));
    source.put(launcher('a', at('2026-01-31T08:01:00Z')));
    source.put(launcher('b', at('2026-01-31T08:02:00Z')));
    expect(pods.all('default/vm1').map(({ name }) => name.slice(-1))).to.deep.equal(['b', 'a', 'c']);
  });
});

import { expect } from 'chai';
import type { AppliedPool } from '../../ledger/ledger-events.ts';
import { PoolCache } from './pool-cache.ts';

const pool = (name: string, subnet: string, ...namespaces: string[]): AppliedPool => ({
  name,
  spec: { subnet, ips: ['10.0.0.9'], namespaces },
  source: undefined,
});

const nothing = { seq: 1, allocations: [], subnets: [], reservations: [] };

describe('the pool cache', () => {
  function inForce(...pools: AppliedPool[]) {
    const empty = new Set<string>();
    const cache = new PoolCache((name) => empty.has(name));
    cache.onSnapshot({ ...nothing, pools });
    return { cache, empty, clusterView: cache.clusterView };
  }

  it('the pool cache has the pools that the ledger reports', () => {
    const { cache, clusterView } = inForce(pool('a', 'lan'));
    expect(clusterView.subnetOf('a')).to.equal('lan');
    cache.onEvents([{ kind: 'pool-configured', pool: pool('b', 'wan') }]);
    cache.onEvents([{ kind: 'pool-retired', pool: 'a', subnet: 'lan' }]);
    expect([clusterView.subnetOf('a'), clusterView.subnetOf('b')]).to.deep.equal([undefined, 'wan']);
    expect(clusterView.whyNot('a')).to.contain('there is no IPPool a');
    cache.onSnapshot({ ...nothing, pools: [] });
    expect(clusterView.subnetOf('b')).to.equal(undefined);
  });

  it('the pool cache has the namespaces of the last spec of a pool, which may use it', () => {
    const { cache, clusterView } = inForce(pool('a', 'lan', 'app', 'web'), pool('b', 'lan'));
    expect(clusterView.namespacesOf('a')).to.deep.equal(['app', 'web']);
    expect([clusterView.namespacesOf('b'), clusterView.namespacesOf('missing')]).to.deep.equal([[], []]);
    cache.onEvents([{ kind: 'pool-configured', pool: pool('a', 'lan', 'other') }]);
    expect(clusterView.namespacesOf('a')).to.deep.equal(['other']);
  });

  it('the pool cache lists the pools of a namespace: those that the namespace lists, then those that name it', () => {
    const { clusterView } = inForce(pool('c', 'lan', 'app'), pool('b', 'lan', 'other'), pool('a', 'lan', 'app'));
    expect(clusterView.ofNamespace('app', ['b', 'missing', 'a'])).to.deep.equal(['b', 'a', 'c']);
    expect(clusterView.ofNamespace('unused', [])).to.deep.equal([]);
  });

  it('the pool cache lists empty pools last', () => {
    const { clusterView, empty } = inForce(pool('a', 'lan', 'app'), pool('b', 'lan', 'app'));
    empty.add('a');
    expect(clusterView.ofNamespace('app', [])).to.deep.equal(['b', 'a']);
  });
});

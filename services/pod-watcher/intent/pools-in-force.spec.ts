import { expect } from 'chai';
import type { PoolInForce } from '../ledger/facts.ts';
import { PoolsInForce } from './pools-in-force.ts';

const pool = (name: string, subnet: string, ...namespaces: string[]): PoolInForce => ({
  name,
  spec: { subnet, ips: ['10.0.0.9'], namespaces },
  source: undefined,
});

const nothing = { seq: 1, holdings: [], subnets: [], reservations: [] };

describe('the IPPools in force', () => {
  function inForce(...pools: PoolInForce[]) {
    const empty = new Set<string>();
    const known = new PoolsInForce((name) => empty.has(name));
    known.snapshot({ ...nothing, pools });
    return { known, empty, sight: known.sight };
  }

  it('are known by what the ledger says', () => {
    const { known, sight } = inForce(pool('a', 'lan'));
    expect(sight.subnetOf('a')).to.equal('lan');
    known.facts([{ kind: 'pool-configured', pool: pool('b', 'wan') }]);
    known.facts([{ kind: 'pool-retired', pool: 'a', subnet: 'lan' }]);
    expect([sight.subnetOf('a'), sight.subnetOf('b')]).to.deep.equal([undefined, 'wan']);
    expect(sight.whyNot('a')).to.contain('there is no IPPool a');
    known.snapshot({ ...nothing, pools: [] });
    expect(sight.subnetOf('b')).to.equal(undefined);
  });

  it('serve a namespace that lists them, or that they name, in that order', () => {
    const { sight } = inForce(pool('c', 'lan', 'app'), pool('b', 'lan', 'other'), pool('a', 'lan', 'app'));
    expect(sight.ofNamespace('app', ['b', 'gone', 'a'])).to.deep.equal(['b', 'a', 'c']);
    expect(sight.ofNamespace('nobody', [])).to.deep.equal([]);
  });

  it('serve last when they are empty', () => {
    const { sight, empty } = inForce(pool('a', 'lan', 'app'), pool('b', 'lan', 'app'));
    empty.add('a');
    expect(sight.ofNamespace('app', [])).to.deep.equal(['b', 'a']);
  });
});

import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { FakeSource, inForce, silent, until } from '../fakes.ts';
import { ipPools, type PoolObject } from '../kubernetes/kept-objects.ts';
import { type Raw, record } from '../../../lib/raw.ts';
import type { PoolInForce } from '../ledger/facts.ts';
import type { Condition } from './conditions.ts';
import { PoolsInForce } from './pools-in-force.ts';
import { Pools } from './pools.ts';

const spec = { subnet: 'macvlan', ips: ['10.0.0.9..10.0.0.12', '10.0.0.20'], namespaces: ['web'] };
const pool = (name: string, metadata: object = {}): PoolObject =>
  ipPools.parse({ metadata: { name, uid: `uid-${name}`, generation: 1, ...metadata }, spec });
const known = (name: string): PoolInForce => ({ name, spec, source: { uid: `uid-${name}`, generation: 1 } });

describe('the IPPool objects', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world(before: PoolInForce[] = []) {
    const objects = new FakeSource<PoolObject>();
    const drawn = new PoolsInForce(() => false);
    const asked: string[] = [];
    const shown: Raw[] = [];
    const ready: string[] = [];
    const said: string[] = [];
    const answers: { refuse?: IpledgerError } = {};
    const answer = (verb: string) => {
      asked.push(verb);
      return answers.refuse ? Promise.reject(answers.refuse) : Promise.resolve({});
    };
    const pools = new Pools({
      allocator: {
        applyPool: (request) => answer(`apply ${JSON.stringify(request)}`),
        deletePool: async (name) => void (await answer(`delete ${name}`)),
      },
      objects,
      inForce: drawn,
      write: (_pool, body) => Promise.resolve(void shown.push(body)),
      writeStatus: (_pool, { conditions }) => {
        for (const { type, status, reason, message } of conditions as Condition[])
          if (type === 'Ready') ready.push(`${status} ${reason} ${message}`.trim());
        return Promise.resolve();
      },
      say: (_pool, { type, reason }) => said.push(`${type} ${reason}`),
      log: silent,
      signal: stop.signal,
    });
    const snapshot = { seq: 50, holdings: [], subnets: [], pools: before, reservations: [] };
    for (const reader of [drawn, pools]) reader.snapshot(snapshot);
    return { objects, drawn, asked, shown, ready, said, answers, pools };
  }

  it('become the ledger’s pools, and say that they are in force', async () => {
    const { objects, asked, shown, ready, said, pools } = world();
    objects.put(pool('web'));
    await pools.start();
    const source = { uid: 'uid-web', generation: 1 };
    expect(asked).to.deep.equal([`apply ${JSON.stringify({ name: 'web', spec, source })}`]);
    expect(ready).to.deep.equal(['True UpdateIPAMSucceeded']);
    expect(said).to.deep.equal(['Normal UpdateIPAMSucceeded']);
    expect(record(shown[0]?.['metadata'])['finalizers']).to.deep.equal(['ipledger.io/ledger']);
    expect(shown[0]).to.not.have.property('spec');
  });

  it('say why they are not, and are tried again when their subnet comes, or another pool gives way', async () => {
    const { objects, drawn, asked, ready, said, answers, pools } = world();
    answers.refuse = new IpledgerError('SUBNET_UNKNOWN', 'subnet macvlan does not exist in IPAM');
    objects.put(pool('web'));
    await pools.start();
    expect(ready).to.deep.equal(['False UpdateIPAMFailed subnet macvlan does not exist in IPAM']);
    expect(said).to.deep.equal(['Warning UpdateIPAMFailed']);
    expect(drawn.sight.whyNot('web')).to.equal('IPPool web is not in force: subnet macvlan does not exist in IPAM');
    answers.refuse = new IpledgerError('POOL_CONFLICT', 'ippool web has conflict IPs with ippool api: 10.0.0.9');
    pools.facts([{ kind: 'configured', subnet: inForce('macvlan') }]);
    await until(() => ready.length > 1);
    delete answers.refuse;
    pools.facts([{ kind: 'pool-retired', pool: 'api', subnet: 'macvlan' }]);
    await until(() => ready.length > 2);
    expect(ready.slice(1)).to.deep.equal([
      'False UpdateIPAMFailed ippool web has conflict IPs with ippool api: 10.0.0.9',
      'True UpdateIPAMSucceeded',
    ]);
    expect(asked).to.have.length.above(2);
    expect(drawn.sight.whyNot('web')).to.contain('there is no IPPool web');
  });

  it('retire their pool when they go, and only such as were made of them', async () => {
    const { objects, asked, shown, pools } = world([
      known('going'),
      known('gone'),
      { ...known('by-hand'), source: undefined },
    ]);
    const deletionTimestamp = '2026-11-17T14:05:00Z';
    objects.put(pool('going', { deletionTimestamp, finalizers: ['ipledger.io/ledger'] }));
    await pools.start();
    expect(asked).to.have.members(['delete going', 'delete gone']);
    expect(shown.map((body) => record(body['metadata'])['finalizers'])).to.deep.equal([[]]);
  });

  it('retire their pool also when they went before the ledger told of it', async () => {
    const { objects, drawn, asked, pools } = world();
    await pools.start();
    for (const reader of [drawn, pools]) reader.facts([{ kind: 'pool-configured', pool: known('late') }]);
    await until(() => asked.length > 0);
    expect([asked, objects.objects.size]).to.deep.equal([['delete late'], 0]);
  });
});

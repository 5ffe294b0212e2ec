import { expect } from 'chai';
import { fakeLedgerClient } from '../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import { FakeInformer, appliedSubnet, silentLogger, until } from '../../testing/fakes.ts';
import { ipPools, type PoolObject } from '../../kubernetes/objects/ip-pool.ts';
import { type UntypedJson, asRecord } from '../../../../lib/kubernetes/untyped-json.ts';
import type { AppliedPool } from '../../ledger/ledger-events.ts';
import type { Condition } from '../object-controller/conditions.ts';
import { PoolCache } from './pool-cache.ts';
import { PoolController } from './pool-controller.ts';

const spec = { subnet: 'macvlan', ips: ['10.0.0.9..10.0.0.12', '10.0.0.20'], namespaces: ['web'] };
const pool = (name: string, metadata: object = {}): PoolObject =>
  ipPools.parse({ metadata: { name, uid: `uid-${name}`, generation: 1, ...metadata }, spec });
const appliedPool = (name: string): AppliedPool => ({ name, spec, source: { uid: `uid-${name}`, generation: 1 } });

describe('an IPPool object', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world(before: AppliedPool[] = []) {
    const objects = new FakeInformer<PoolObject>();
    const cache = new PoolCache(() => false);
    const requests: string[] = [];
    const patches: UntypedJson[] = [];
    const ready: string[] = [];
    const podEvents: string[] = [];
    const allocator: { refuse?: IpledgerError } = {};
    const call = (verb: string) => {
      requests.push(verb);
      return allocator.refuse ? Promise.reject(allocator.refuse) : Promise.resolve({});
    };
    const pools = new PoolController({
      allocator: fakeLedgerClient({
        applyPool: (request) => call(`apply ${JSON.stringify(request)}`),
        deletePool: ({ name }) => call(`delete ${name}`),
      }),
      objects,
      cache,
      write: (_pool, body) => Promise.resolve(void patches.push(body)),
      writeStatus: (_pool, { conditions }) => {
        for (const { type, status, reason, message } of conditions as Condition[])
          if (type === 'Ready') ready.push(`${status} ${reason} ${message}`.trim());
        return Promise.resolve();
      },
      recordEvent: (_pool, { type, reason }) => podEvents.push(`${type} ${reason}`),
      log: silentLogger,
      signal: stop.signal,
    });
    const snapshot = { seq: 50, allocations: [], subnets: [], pools: before, reservations: [] };
    for (const subscriber of [cache, pools]) subscriber.onSnapshot(snapshot);
    return { objects, cache, requests, patches, ready, podEvents, allocator, pools };
  }

  it('an IPPool object is applied to the ledger, and shows that it is in force', async () => {
    const { objects, requests, patches, ready, podEvents, pools } = world();
    objects.put(pool('web'));
    await pools.start();
    const source = { uid: 'uid-web', generation: 1 };
    expect(requests).to.deep.equal([`apply ${JSON.stringify({ name: 'web', spec, source })}`]);
    expect(ready).to.deep.equal(['True UpdateIPAMSucceeded']);
    expect(podEvents).to.deep.equal(['Normal UpdateIPAMSucceeded']);
    expect(asRecord(patches[0]?.['metadata'])['finalizers']).to.deep.equal(['ipledger.io/ledger']);
    expect(patches[0]).to.not.have.property('spec');
  });

  it('an IPPool object shows that enableAddressSet has no effect', async () => {
    const { objects, podEvents, pools } = world();
    const withAddressSet = { ...spec, enableAddressSet: true };
    objects.put(ipPools.parse({ metadata: { name: 'web', uid: 'uid-web', generation: 1 }, spec: withAddressSet }));
    await pools.start();
    expect(podEvents).to.include('Warning FieldsNotServed');
  });

  it('an IPPool object shows why it is rejected, and is applied again when its subnet is configured, or another pool is configured or retired', async () => {
    const { objects, cache, requests, ready, podEvents, allocator, pools } = world();
    allocator.refuse = new IpledgerError('SUBNET_UNKNOWN', 'subnet macvlan does not exist in IPAM');
    objects.put(pool('web'));
    await pools.start();
    expect(ready).to.deep.equal(['False UpdateIPAMFailed subnet macvlan does not exist in IPAM']);
    expect(podEvents).to.deep.equal(['Warning UpdateIPAMFailed']);
    expect(cache.clusterView.whyNot('web')).to.equal(
      'IPPool web is not in force: subnet macvlan does not exist in IPAM',
    );
    allocator.refuse = new IpledgerError('POOL_CONFLICT', 'ippool web has conflict IPs with ippool api: 10.0.0.9');
    pools.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('macvlan') }]);
    await until(() => ready.length > 1);
    pools.onEvents([{ kind: 'pool-configured', pool: appliedPool('api') }]);
    await until(() => ready.length > 2);
    delete allocator.refuse;
    pools.onEvents([{ kind: 'pool-retired', pool: 'api', subnet: 'macvlan' }]);
    await until(() => ready.length > 3);
    expect(ready.slice(2)).to.deep.equal([
      'False UpdateIPAMFailed ippool web has conflict IPs with ippool api: 10.0.0.9',
      'True UpdateIPAMSucceeded',
    ]);
    expect(requests).to.have.length.above(2);
    expect(cache.clusterView.whyNot('web')).to.contain('there is no IPPool web');
  });

  it('an IPPool object is applied again after another client has deleted its pool, and not when its status changes', async () => {
    const { objects, cache, requests, pools } = world([appliedPool('web')]);
    const finalizers = ['ipledger.io/ledger'];
    objects.put(pool('web', { finalizers }));
    await pools.start();
    objects.put(pool('web', { finalizers, resourceVersion: '2' }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(requests).to.have.length(1);
    for (const subscriber of [cache, pools])
      subscriber.onEvents([{ kind: 'pool-retired', pool: 'web', subnet: 'macvlan' }]);
    await until(() => requests.length === 2);
    expect(requests[1]).to.equal(requests[0]);
  });

  it('the reason why an IPPool object is rejected ends with the object', async () => {
    const { objects, cache, allocator, pools } = world();
    allocator.refuse = new IpledgerError('SUBNET_UNKNOWN', 'subnet macvlan does not exist in IPAM');
    objects.put(pool('web'));
    await pools.start();
    expect(cache.clusterView.whyNot('web')).to.contain('is not in force: subnet macvlan does not exist');
    objects.drop(pool('web'));
    await until(() => cache.clusterView.whyNot('web').startsWith('there is no IPPool web'));
  });

  it('the pool of a deleted IPPool object is retired, and pools without an object stay', async () => {
    const { objects, requests, patches, pools } = world([
      appliedPool('going'),
      appliedPool('deleted'),
      { ...appliedPool('manual'), source: undefined },
    ]);
    const deletionTimestamp = '2026-11-17T14:05:00Z';
    objects.put(pool('going', { deletionTimestamp, finalizers: ['ipledger.io/ledger'] }));
    await pools.start();
    expect(requests).to.have.members(['delete going', 'delete deleted']);
    expect(patches.map((body) => asRecord(body['metadata'])['finalizers'])).to.deep.equal([[]]);
  });

  it('the pool of an IPPool object that was deleted before the ledger’s event is retired', async () => {
    const { objects, cache, requests, pools } = world();
    await pools.start();
    for (const subscriber of [cache, pools])
      subscriber.onEvents([{ kind: 'pool-configured', pool: appliedPool('late') }]);
    await until(() => requests.length > 0);
    expect([requests, objects.objects.size]).to.deep.equal([['delete late'], 0]);
  });

  it('the pool of an IPPool object is applied again after the ledger was rewound', async () => {
    const { objects, cache, requests, pools } = world([appliedPool('web')]);
    objects.put(pool('web', { finalizers: ['ipledger.io/ledger'] }));
    await pools.start();
    const before = requests.length;
    for (const subscriber of [cache, pools])
      subscriber.onSnapshot({ seq: 40, allocations: [], subnets: [], pools: [], reservations: [] });
    await until(() => requests.length > before);
    expect(requests.at(-1)).to.equal(requests[0]);
  });
});

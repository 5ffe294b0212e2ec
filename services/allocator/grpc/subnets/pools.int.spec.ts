import { expect } from 'chai';
import { IpamService, SubnetsService } from '../../../../proto/generated/ipledger.ts';
import {
  allocate,
  applyMacvlan,
  allocateRequest,
  release,
  type ServedAllocator,
  serveAllocator,
} from '../testing/served-allocator.ts';

const spec = { subnet: 'macvlan', ips: ['172.17.0.221', '172.17.0.220'], namespaces: ['team-a'] };

describe('Pools', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());
  const apply = (name = 'blue', more: object = {}) =>
    served.call(SubnetsService.applyPool, { name, spec: { ...spec, ...more } });

  it('Pools are returned in normalised form, with their counts', async () => {
    const source = { uid: 'uid-of-blue', generation: 2 };
    const { position, pool } = await served.call(SubnetsService.applyPool, { name: 'blue', spec, source });
    expect(position?.seq).to.equal(3);
    expect(pool).to.deep.equal({
      name: 'blue',
      spec: { subnet: 'macvlan', ips: ['172.17.0.220..172.17.0.221'], namespaces: ['team-a'] },
      source,
      usage: [
        {
          family: 4,
          total: '2',
          inUse: '0',
          available: '2',
          free: '2',
          cooldown: '0',
          reserved: '0',
          inUseRange: '',
          availableRange: '172.17.0.220-172.17.0.221',
          reservedRange: '',
          quarantined: '0',
          quarantinedRange: '',
        },
      ],
    });
    expect((await served.call(SubnetsService.getPool, { name: 'blue' })).pool).to.deep.equal(pool);
  });

  it('Pools are listed by name, and not found after they are deleted', async () => {
    await apply('red', { ips: ['172.17.0.30'] });
    await apply();
    const names = async () => (await served.call(SubnetsService.listPools, {})).pools.map(({ name }) => name);
    expect(await names()).to.deep.equal(['blue', 'red']);
    for (const time of ['once', 'and again'])
      expect((await served.call(SubnetsService.deletePool, { name: 'red' })).position?.seq, time).to.equal(5);
    expect(await names()).to.deep.equal(['blue']);
    expect(await served.refusal(SubnetsService.getPool, { name: 'red' })).to.deep.equal({
      status: 'NOT_FOUND',
      code: 'POOL_UNKNOWN',
      message: 'no ippool red is configured',
    });
  });

  it('a pool serves only requests that name it', async () => {
    await apply('low', { ips: ['172.17.0.11'], namespaces: [] });
    expect((await allocate(served, 'a')).addresses[0]?.address).to.equal('172.17.0.12');
    const given = await allocate(served, 'b', { pool: 'low' });
    expect(given).to.deep.include({ cause: 'ALLOCATION_CAUSE_POOL' });
    expect(given.addresses[0]?.address).to.equal('172.17.0.11');
    const { pool } = await served.call(SubnetsService.getPool, { name: 'low' });
    expect(pool?.usage[0]).to.deep.include({ inUse: '1', available: '0', inUseRange: '172.17.0.11' });
    expect(await served.refusal(IpamService.allocate, allocateRequest('c', { pool: 'low' }))).to.deep.include({
      status: 'RESOURCE_EXHAUSTED',
      code: 'SUBNET_FULL',
    });
    await release(served, 'b');
    const { record } = await served.call(IpamService.getAddress, { subnet: 'macvlan', address: '172.17.0.11' });
    expect(record).to.deep.include({ state: 'cooldown', pool: 'low' });
  });

  for (const [what, name, more, status, code, message] of [
    [
      'has its addresses in another',
      'red',
      {},
      'FAILED_PRECONDITION',
      'POOL_CONFLICT',
      'ippool red has conflict IPs with ippool blue: 172.17.0.220-172.17.0.221',
    ],
    [
      'has an invalid address',
      'red',
      { ips: ['x'] },
      'INVALID_ARGUMENT',
      'POOL_INVALID',
      'ippool red: invalid IP address "x"',
    ],
    [
      'is of no known subnet',
      'red',
      { subnet: 'nope' },
      'NOT_FOUND',
      'SUBNET_UNKNOWN',
      'NoSubnet: subnet nope does not exist in IPAM: ippool red waits for it',
    ],
  ] as const)
    it(`a pool is rejected that ${what}`, async () => {
      await apply();
      const refusal = await served.refusal(SubnetsService.applyPool, {
        name,
        spec: { ...spec, ips: [...spec.ips], ...more, ...('ips' in more && { ips: [...more.ips] }) },
      });
      expect(refusal).to.deep.equal({ status, code, message });
    });

  it('pools persist over a restart', async () => {
    await apply('blue', { namespaces: [] });
    await using again = await serveAllocator(served.memory);
    expect((await again.call(SubnetsService.listPools, {})).pools).to.have.length(1);
    expect((await allocate(again, 'a', { pool: 'blue' })).addresses[0]?.address).to.equal('172.17.0.220');
  });
});

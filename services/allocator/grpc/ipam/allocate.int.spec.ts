import { expect } from 'chai';
import fc from 'fast-check';
import type { MessageInput } from '../../../../proto/codec.ts';
import { type AllocateRequest, IpamService } from '../../../../proto/generated/ipledger.ts';
import { addressKey } from '../../../../ledger/log/store/keys.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  allocateRequest,
  release,
  type ServedAllocator,
  serveAllocator,
} from '../testing/served-allocator.ts';

describe('Ipam.Allocate', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());

  it('Ipam.Allocate returns an address with the fields of a CNI result, and a position', async () => {
    const reply = await served.call(IpamService.allocate, allocateRequest('samplepod'));
    const at = reply.allocations[0]?.at;
    expect(at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(reply).to.deep.equal({
      position: { epoch: 1, seq: 3, hash: served.replica.head.hash, ledger: served.replica.head.ledger },
      allocations: [
        {
          seq: 3,
          attachment: { namespace: 'default', pod: 'samplepod', provider: 'macvlan.default', ordinal: 0 },
          podUid: 'uid-samplepod',
          node: '',
          subnet: 'macvlan',
          addresses: [{ address: '172.17.0.11', cidr: '172.17.0.0/16', gateway: '172.17.0.1' }],
          mac: '',
          interface: '',
          cause: 'ALLOCATION_CAUSE_DYNAMIC',
          routes: [],
          at,
          bindings: [],
          network: 'macvlan.default',
        },
      ],
    });
  });

  it('Ipam.Allocate returns the same allocation for a repeated request, and writes nothing', async () => {
    const first = await served.call(IpamService.allocate, allocateRequest('a'));
    const again = await served.call(
      IpamService.allocate,
      allocateRequest('a', { candidates: [{ addresses: ['172.17.9.9'] }] }),
    );
    expect(again).to.deep.equal(first);
  });

  it('the first reply equals the reply to a repeated request, for Pods of any shape that share a transaction', async () => {
    await applySubnet(served, 'dual', { cidrBlock: '10.16.0.0/16,fd00:10:16::/112' });
    const shape = fc.record(
      {
        interface: fc.constantFrom('', 'net7'),
        ipFamily: fc.constantFrom('', 'ipv4', 'ipv6'),
        defaultRoute: fc.boolean(),
        routes: fc.array(fc.constantFrom({ dst: '', gw: '10.16.0.1' }, { dst: '10.99.0.0/16', gw: '' }), {
          maxLength: 2,
        }),
      },
      { requiredKeys: [] },
    );
    const attachments = fc.uniqueArray(fc.tuple(fc.constantFrom('dual', 'macvlan', 'ovn'), fc.nat(2), shape), {
      selector: ([subnet, ordinal]) => `${subnet}/${ordinal}`,
      minLength: 1,
      maxLength: 4,
    });
    const owner = fc.constantFrom(undefined, { kind: 'StatefulSet', name: 'db', uid: 'uid-of-db' });
    const pods = fc.array(
      fc.record({ owner, node: fc.constantFrom('', 'node-1'), attachments, isBound: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 6,
      },
    );
    await applySubnet(served, 'own', { cidrBlock: '10.17.0.0/16', provider: 'ovn' });
    let run = 0;
    /** The request of a Pod. A Pod with the same name but another uid takes over the addresses. */
    const requestOf = (each: Sampled, name: string, uid: string): MessageInput<AllocateRequest> => ({
      pod: { namespace: 'default', name, uid, node: each.node, owner: each.owner },
      attachments: each.attachments.map(([subnet, ordinal, rest]) => ({
        ...rest,
        ...(subnet === 'dual' ? {} : { ipFamily: '' }),
        provider: subnet === 'ovn' ? 'ovn' : `${subnet}.default`,
        subnets: [subnet === 'ovn' ? 'own' : subnet],
        ordinal,
      })),
    });
    type Sampled = typeof pods extends fc.Arbitrary<(infer Pod)[]> ? Pod : never;
    const property = fc.asyncProperty(pods, async (sampled) => {
      run++;
      for (const generation of ['first', 'second']) {
        const requests = sampled.map((each, index) =>
          requestOf(each, `p-${run}-${index}`, `${generation}-${run}-${index}`),
        );
        const send = () => Promise.all(requests.map((request) => served.call(IpamService.allocate, request)));
        const given = await send();
        const again = await send();
        expect(given.map(({ allocations }) => allocations)).to.deep.equal(again.map(({ allocations }) => allocations));
        for (const [index, { allocations }] of given.entries())
          for (const { attachment, podUid, interface: requested } of sampled[index]?.isBound ? allocations : [])
            await served.call(IpamService.bind, {
              ...attachment,
              podUid,
              containerId: `c-${run}-${index}`,
              interface: requested || `net${attachment?.ordinal}`,
              node: sampled[index]?.node || 'node-1',
              bootId: 'boot-1',
            });
      }
    });
    await fc.assert(property, { numRuns: 30, includeErrorInReport: true });
  });

  it('Ipam.Allocate allocates all attachments of a Pod, in the order of the request, with owner, node, MAC and routes', async () => {
    await applySubnet(served, 'dual', { cidrBlock: '10.16.0.0/16,fd00:10:16::/112' });
    const owner = { kind: 'StatefulSet', name: 'db', uid: 'uid-of-db' };
    const { allocations } = await served.call(IpamService.allocate, {
      pod: { namespace: 'default', name: 'db-0', uid: 'uid-db-0', node: 'node-1', owner },
      attachments: [
        { provider: 'dual.default', subnets: ['dual'], routes: [{ dst: '', gw: '10.16.0.1' }], defaultRoute: false },
        {
          provider: 'macvlan.default',
          ordinal: 1,
          interface: 'net7',
          subnets: ['macvlan'],
          candidates: [{ addresses: ['172.17.0.200'] }],
          mac: '02-00-00-53-6B-BB',
        },
        { provider: 'macvlan.default', ordinal: 0, subnets: ['macvlan'] },
      ],
    });
    expect(allocations.map(({ addresses }) => addresses.map(({ address }) => address))).to.deep.equal([
      ['10.16.0.2', 'fd00:10:16::2'],
      ['172.17.0.200'],
      ['172.17.0.11'],
    ]);
    const [dual, fixed] = allocations;
    expect(dual).to.deep.include({
      owner,
      node: 'node-1',
      routes: [{ dst: '', gw: '10.16.0.1' }],
      defaultRoute: false,
    });
    expect(fixed).to.deep.include({ interface: 'net7', mac: '02:00:00:53:6b:bb', cause: 'ALLOCATION_CAUSE_STATIC' });
    expect(fixed).to.not.have.property('defaultRoute');
  });

  it('Ipam.Allocate allocates the first free candidate', async () => {
    await allocate(served, 'a', { candidates: [{ addresses: ['172.17.0.20'] }] });
    const candidates = ['172.17.0.20', '172.17.0.21'].map((address) => ({ addresses: [address] }));
    const { addresses, cause } = await allocate(served, 'b', { candidates });
    expect([addresses[0]?.address, cause]).to.deep.equal(['172.17.0.21', 'ALLOCATION_CAUSE_POOL']);
  });

  it('Ipam.Allocate transfers the address to a re-created Pod of the same name', async () => {
    const before = await allocate(served, 'a');
    const after = await allocate(served, 'a', {}, { uid: 'uid-again' });
    expect(after.addresses).to.deep.equal(before.addresses);
    expect(after).to.include({ podUid: 'uid-again', seq: 4 });
  });

  const long = 'x'.repeat(1_025);
  const malformed: [string, object, string][] = [
    ['no pod', { pod: undefined }, 'pod.namespace is missing'],
    ['no name', { pod: { namespace: 'default', uid: 'u' } }, 'pod.name is missing'],
    ['no uid', { pod: { namespace: 'default', name: 'a' } }, 'pod.uid is missing'],
    [
      'a text that is too long',
      { pod: { namespace: long, name: 'a', uid: 'u' } },
      'pod.namespace has 1025 bytes, and 63 is the limit: shorten it',
    ],
    [
      'an owner that is too long',
      { pod: { namespace: 'd', name: 'a', uid: 'u', owner: { kind: long } } },
      'pod.owner.kind has 1025 bytes, and 64 is the limit: shorten it',
    ],
    ['no attachment', { attachments: [] }, 'attachments: at least one is needed'],
    [
      'too many attachments',
      { attachments: Array.from({ length: 25 }, (_, ordinal) => ({ provider: 'p', ordinal })) },
      'attachments has 25 entries, and 24 is the limit: shorten it',
    ],
    [
      'one attachment twice',
      { attachments: [{ provider: 'p' }, { provider: 'p' }] },
      'attachments: each provider needs a different ordinal for each of its attachments',
    ],
    ['no provider', { attachments: [{}] }, 'provider is missing'],
    [
      'too many routes',
      { attachments: [{ provider: 'p', routes: Array.from({ length: 65 }, () => ({})) }] },
      'attachments[0].routes has 65 entries, and 64 is the limit: shorten it',
    ],
    [
      'a route that is too long',
      { attachments: [{ provider: 'p', routes: [{ dst: long }] }] },
      'attachments[0].routes[0].dst has 1025 bytes, and 64 is the limit: shorten it',
    ],
    [
      'too many candidates',
      {
        attachments: [{ provider: 'p', candidates: Array.from({ length: 257 }, () => ({ addresses: ['10.0.0.1'] })) }],
      },
      'attachments[0].candidates has 257 entries, and 256 is the limit: shorten it',
    ],
    [
      'an empty candidate',
      { attachments: [{ provider: 'p', candidates: [{}] }] },
      'candidates: each must contain one address, or one of each family',
    ],
    [
      'a CIDR as address',
      { attachments: [{ provider: 'p', candidates: [{ addresses: ['10.0.0.1/24'] }] }] },
      'failed to parse IP 10.0.0.1/24: invalid IP address "10.0.0.1/24": write it without a mask, "10.0.0.1"',
    ],
    [
      'a route that is not a CIDR',
      { attachments: [{ provider: 'p', routes: [{ dst: '10.0.0.0/33' }] }] },
      'routes: dst "10.0.0.0/33" is not a CIDR; omit it for the default route',
    ],
    [
      'a gateway that is not an address',
      { attachments: [{ provider: 'p', routes: [{ gw: 'router' }] }] },
      'routes: gw "router" is not an IP address',
    ],
    [
      'a slash in a name',
      { pod: { namespace: 'a/b', name: 'c', uid: 'u' } },
      'pod.namespace "a/b" is not valid: a namespace has lower-case letters, digits and "-"',
    ],
  ];
  for (const [what, change, message] of malformed)
    it(`Ipam.Allocate rejects a request with ${what}`, async () => {
      const refusal = await served.refusal(IpamService.allocate, { ...allocateRequest('a'), ...change });
      expect(refusal).to.deep.equal({ status: 'INVALID_ARGUMENT', code: 'INVALID_REQUEST', message });
    });

  it('Ipam.Allocate rejects an invalid family, and a family that the Subnet does not have', async () => {
    expect(await served.refusal(IpamService.allocate, allocateRequest('a', { ipFamily: 'IPv4' }))).to.deep.equal({
      status: 'INVALID_ARGUMENT',
      code: 'IP_FAMILY_INVALID',
      message: 'InvalidIPFamily: IPv4 is not a valid ip_family: it is ipv4 or ipv6',
    });
    expect(await served.refusal(IpamService.allocate, allocateRequest('a', { ipFamily: 'ipv6' }))).to.deep.equal({
      status: 'INVALID_ARGUMENT',
      code: 'IP_FAMILY_INVALID',
      message: 'InvalidIPFamily: requested ip family IPv6 does not match subnet macvlan protocol IPv4',
    });
  });

  it('Ipam.Allocate imports exactly the named addresses', async () => {
    const candidates = [{ addresses: ['172.17.0.5'] }];
    const { allocations } = await served.call(IpamService.allocate, {
      ...allocateRequest('old', { candidates }),
      import: true,
    });
    expect(allocations[0]).to.deep.include({ cause: 'ALLOCATION_CAUSE_IMPORT' });
    expect(allocations[0]?.addresses[0]?.address).to.equal('172.17.0.5');
  });

  describe('returns the reason when', () => {
    const requesting = (address: string) => ({ candidates: [{ addresses: [address] }] });
    const refused = (...request: Parameters<typeof allocateRequest>) =>
      served.refusal(IpamService.allocate, allocateRequest(...request));

    it('Ipam.Allocate returns the reason when the address is in use, with its holder', async () => {
      const { at } = await allocate(served, 'holder', requesting('172.17.0.100'));
      expect(await refused('a', requesting('172.17.0.100'))).to.deep.equal({
        status: 'ALREADY_EXISTS',
        code: 'ADDRESS_IN_USE',
        message: `AddressConflict: 172.17.0.100 of subnet macvlan is in use by Pod default/holder (uid uid-holder, macvlan.default) since ${at}`,
      });
    });

    it('Ipam.Allocate returns the reason when the address is the gateway', async () => {
      expect(await refused('a', requesting('172.17.0.1'))).to.deep.equal({
        status: 'INVALID_ARGUMENT',
        code: 'ADDRESS_OUT_OF_RANGE',
        message: 'AddressConflict: 172.17.0.1 is the gateway of subnet macvlan',
      });
    });

    it('Ipam.Allocate returns the reason when the address is outside the subnet', async () => {
      expect(await refused('a', requesting('10.0.0.1'))).to.deep.equal({
        status: 'INVALID_ARGUMENT',
        code: 'ADDRESS_OUT_OF_RANGE',
        message: 'AddressOutOfRange: 10.0.0.1 is not a host address of subnet macvlan (172.17.0.0/16)',
      });
    });

    it('Ipam.Allocate returns the reason when a container may still answer on the address', async () => {
      await allocate(served, 'gone', requesting('172.17.0.100'));
      await bind(served, 'gone');
      await release(served, 'gone');
      const { status, code, message } = await refused('a', requesting('172.17.0.100'));
      expect([status, code]).to.deep.equal(['ALREADY_EXISTS', 'ADDRESS_IN_USE']);
      expect(message).to.contain('container container-of-gone on node node-1 may still answer on it');
    });

    it('Ipam.Allocate returns the reason when the MAC is in use', async () => {
      await allocate(served, 'holder', { mac: '02:00:00:00:00:01' });
      expect(await refused('a', { mac: '02:00:00:00:00:01' })).to.deep.equal({
        status: 'ALREADY_EXISTS',
        code: 'MAC_IN_USE',
        message:
          'AddressConflict: MAC 02:00:00:00:00:01 is in use in subnet macvlan by Pod default/holder (macvlan.default)',
      });
    });

    it('Ipam.Allocate returns the reason when the MAC is invalid', async () => {
      expect(await refused('a', { mac: '01:00:00:00:00:01' })).to.deep.equal({
        status: 'INVALID_ARGUMENT',
        code: 'INVALID_REQUEST',
        message: '01:00:00:00:00:01 is not a valid unicast MAC address: write six octets, 02:00:00:53:6b:bb',
      });
    });

    it('Ipam.Allocate returns the reason when the Subnet is not configured', async () => {
      expect(await refused('a', { subnets: ['x', 'y'] })).to.deep.equal({
        status: 'NOT_FOUND',
        code: 'SUBNET_UNKNOWN',
        message: 'NoSubnet: no subnet x or y is configured, which Pod default/a (uid uid-a) requests',
      });
    });

    it('Ipam.Allocate returns the reason when the Subnet is full, with advice', async () => {
      await applySubnet(served, 'tiny', { cidrBlock: '10.0.0.0/30', cooldownMs: 60_000 });
      await allocate(served, 'first', { subnets: ['tiny'] });
      expect(await refused('a', { subnets: ['tiny'] })).to.deep.equal({
        status: 'RESOURCE_EXHAUSTED',
        code: 'SUBNET_FULL',
        message:
          'NoAvailableAddress: subnet tiny (10.0.0.0/30) has no free address: IPv4: 1 of 1 addresses in use. Delete Pods that are not needed, or widen the subnet',
      });
      await release(served, 'first');
      expect((await refused('a', { subnets: ['tiny'] })).message).to.match(
        /1 released but not yet available \(the next is free at /,
      );
      served.advanceTime(60_001);
      expect((await allocate(served, 'a', { subnets: ['tiny'] })).addresses[0]?.address).to.equal('10.0.0.2');
    });

    it('Ipam.Allocate returns the reason when another program changed the key of the address', async () => {
      served.memory.put(addressKey({ subnet: 'macvlan', address: '172.17.0.100' }), '{}');
      const { status, code, message } = await refused('a', requesting('172.17.0.100'));
      expect([status, code]).to.deep.equal(['DATA_LOSS', 'ADDRESS_FENCED']);
      expect(message).to.match(/^172\.17\.0\.100 of subnet macvlan is fenced: another program changed its key in etcd/);
      await allocate(served, 'b');
    });

    it('Ipam.Allocate returns the reason when the message is longer than a header', async () => {
      const subnets = Array.from({ length: 24 }, (_, index) => `s${index}`.padEnd(253, 'x'));
      const { status, message } = await refused('a', { subnets });
      expect(status).to.equal('NOT_FOUND');
      expect(message).to.match(/^NoSubnet: no subnet s0x+ or .* … \(shortened\)$/);
    });
  });
});

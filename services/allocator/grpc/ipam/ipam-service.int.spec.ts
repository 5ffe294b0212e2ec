import { expect } from 'chai';
import { never } from '../../../../ledger/log/testing/running-writer.ts';
import { IpamService, LedgerService } from '../../../../proto/generated/ipledger.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  allocateRequest,
  release,
  sandboxOf,
  type ServedAllocator,
  serveAllocator,
  unbind,
} from '../testing/served-allocator.ts';

describe('The Ipam service', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());

  const record = async (address: string, subnet = 'macvlan') =>
    (await served.call(IpamService.getAddress, { subnet, address })).record;

  describe('Release', () => {
    it('Release ends all allocations of a Pod uid and returns their number', async () => {
      await served.call(IpamService.allocate, {
        pod: { namespace: 'default', name: 'a', uid: 'uid-a' },
        attachments: [0, 1].map((ordinal) => ({ provider: 'macvlan.default', ordinal, subnets: ['macvlan'] })),
      });
      const { released, position } = await release(served, 'a');
      expect([released, position?.seq]).to.deep.equal([2, 6]);
      expect(await release(served, 'a')).to.deep.include({ released: 0, position });
    });

    it('Release ends only the allocation that the request names', async () => {
      const { seq } = await allocate(served, 'a');
      const request = { namespace: 'default', pod: 'a', podUid: 'uid-a', cause: 'RELEASE_CAUSE_OPERATOR' } as const;
      expect(await served.call(IpamService.release, { ...request, allocationSeq: seq + 1 })).to.include({
        released: 0,
      });
      expect(await served.call(IpamService.release, { ...request, allocationSeq: seq })).to.include({ released: 1 });
    });

    it('Release does not release the allocation of a newer Pod, and succeeds', async () => {
      await allocate(served, 'a');
      await allocate(served, 'a', {}, { uid: 'uid-newer' });
      expect(await release(served, 'a')).to.include({ released: 0 });
      expect(await record('172.17.0.11')).to.have.nested.property('allocation.podUid', 'uid-newer');
    });

    const malformed: [object, string][] = [
      [{ namespace: '' }, 'namespace is missing'],
      [{ pod: '' }, 'pod is missing'],
      [{ podUid: '' }, 'pod_uid is missing'],
      [{ cause: 'RELEASE_CAUSE_UNSPECIFIED' }, 'cause is missing: set the cause of the release'],
      [{ evidence: 'x'.repeat(1_025) }, 'evidence has 1025 bytes, and 1024 is the limit: shorten it'],
    ];
    for (const [change, message] of malformed)
      it(`Release rejects a request: ${message}`, async () => {
        const request = {
          namespace: 'd',
          pod: 'a',
          podUid: 'u',
          cause: 'RELEASE_CAUSE_POD_DELETED',
          ...change,
        } as const;
        expect(await served.refusal(IpamService.release, request)).to.deep.equal({
          status: 'INVALID_ARGUMENT',
          code: 'INVALID_REQUEST',
          message,
        });
      });
  });

  describe('Bind and Unbind', () => {
    it('repeated Binds record only once that a container uses the address', async () => {
      await allocate(served, 'a');
      const { allocation, position } = await bind(served, 'a');
      expect(position?.seq).to.equal(4);
      expect(allocation).to.include({ interface: 'net1', node: 'node-1' });
      expect(allocation?.bindings.map(({ at: _, ...binding }) => binding)).to.deep.equal([
        { containerId: 'container-of-a', interface: 'net1', node: 'node-1', bootId: 'boot-1' },
      ]);
      expect(await bind(served, 'a')).to.deep.equal({ allocation, position, probeAddresses: false });
    });

    it('Bind and Unbind reject container ids of more than 128 bytes', async () => {
      await allocate(served, 'a');
      const bound = { ...sandboxOf('a'), node: 'node-1', bootId: 'boot-1', containerId: 'c'.repeat(1_000) };
      expect(await served.refusal(IpamService.bind, bound)).to.deep.include({
        status: 'INVALID_ARGUMENT',
        message: 'container_id has 1000 bytes, and 128 is the limit: shorten it',
      });
      expect(served.replica.head.seq).to.equal(3);
    });

    it('Unbind ends the binding of one container, even after the release, and succeeds when repeated', async () => {
      await allocate(served, 'a');
      await bind(served, 'a');
      await served.call(IpamService.bind, {
        ...sandboxOf('a'),
        containerId: 'newer',
        node: 'node-1',
        bootId: 'boot-1',
      });
      await release(served, 'a');
      expect(await unbind(served, 'a')).to.include({ unbound: 1 });
      expect((await record('172.17.0.11'))?.bindings.map(({ containerId }) => containerId)).to.deep.equal(['newer']);
      expect(await unbind(served, 'a')).to.include({ unbound: 0 });
    });

    it('Unbind records the cause, which is by default the deleted container', async () => {
      await allocate(served, 'a');
      const causes = [
        'UNBIND_CAUSE_UNSPECIFIED',
        'UNBIND_CAUSE_NODE_REBOOTED',
        'UNBIND_CAUSE_NODE_DELETED',
        'UNBIND_CAUSE_NODE_OUT_OF_SERVICE',
      ] as const;
      for (const cause of causes) {
        await bind(served, 'a');
        await served.call(IpamService.unbind, { ...sandboxOf('a'), cause });
      }
      const { events } = await served.call(LedgerService.history, { address: '172.17.0.11' });
      expect(events.flatMap(({ addressUnbound }) => addressUnbound?.cause ?? [])).to.deep.equal([
        'UNBIND_CAUSE_NODE_OUT_OF_SERVICE',
        'UNBIND_CAUSE_NODE_DELETED',
        'UNBIND_CAUSE_NODE_REBOOTED',
        'UNBIND_CAUSE_CONTAINER_DELETED',
      ]);
    });

    it('Bind and Unbind reject a Bind without an allocation', async () => {
      const request = { ...sandboxOf('a'), node: 'node-1' };
      expect(await served.refusal(IpamService.bind, request)).to.deep.equal({
        status: 'NOT_FOUND',
        code: 'NOT_ALLOCATED',
        message: 'Pod default/a (uid uid-a) has no allocation for provider macvlan.default, interface net1',
      });
    });

    it('Bind and Unbind reject a request without a required field', async () => {
      for (const [field, name] of [
        ['namespace', 'namespace'],
        ['pod', 'pod'],
        ['podUid', 'pod_uid'],
        ['provider', 'provider'],
        ['containerId', 'container_id'],
        ['interface', 'interface'],
        ['node', 'node'],
      ] as const) {
        const request = { ...sandboxOf('a'), node: 'node-1', [field]: '' };
        const refusal = { status: 'INVALID_ARGUMENT', code: 'INVALID_REQUEST', message: `${name} is missing` };
        expect(await served.refusal(IpamService.bind, request)).to.deep.equal(refusal);
        if (field === 'containerId' || field === 'interface')
          expect(await served.refusal(IpamService.unbind, request)).to.deep.equal(refusal);
      }
    });
  });

  describe('ListBindings', () => {
    const bindings = async (request: object = {}) => {
      const reply = await served.call(IpamService.listBindings, request);
      return [reply.bindings.map(({ binding }) => binding?.containerId).join(' '), reply.nextPageToken];
    };

    it('ListBindings returns open bindings with a position, even of released addresses', async () => {
      await allocate(served, 'a');
      await bind(served, 'a');
      await release(served, 'a');
      const reply = await served.call(IpamService.listBindings, {});
      expect(reply.position).to.include({ seq: served.replica.head.seq });
      const { at, ...binding } = reply.bindings[0]?.binding ?? {};
      expect(Date.parse(at ?? '')).to.be.greaterThan(0);
      expect({ ...reply.bindings[0], binding }).to.deep.equal({
        attachment: { namespace: 'default', pod: 'a', provider: 'macvlan.default', ordinal: 0 },
        subnet: 'macvlan',
        addresses: ['172.17.0.11'],
        binding: { containerId: 'container-of-a', interface: 'net1', node: 'node-1', bootId: 'boot-1' },
        allocationSeq: 3,
      });
      await unbind(served, 'a');
      expect(await bindings()).to.deep.equal(['', '']);
    });

    it('ListBindings returns pages, and the bindings of one node', async () => {
      for (const pod of ['a', 'b', 'c']) {
        await allocate(served, pod);
        await bind(served, pod);
      }
      expect(await bindings({ node: 'node-1', pageSize: 2 })).to.deep.equal([
        'container-of-a container-of-b',
        '5/container-of-b/net1/node-1',
      ]);
      expect(await bindings({ pageSize: 2, pageToken: '5/container-of-b/net1/node-1' })).to.deep.equal([
        'container-of-c',
        '',
      ]);
      expect(await bindings({ node: 'node-2' })).to.deep.equal(['', '']);
    });

    it('ListBindings rejects a token that is not from a reply', async () => {
      expect(await served.refusal(IpamService.listBindings, { pageToken: '7' })).to.deep.equal({
        status: 'INVALID_ARGUMENT',
        code: 'INVALID_REQUEST',
        message: 'page_token "7" is not from a reply: omit it to read the first page',
      });
    });
  });

  describe('GetAddress', () => {
    it('GetAddress returns the state of an address from allocation to idle', async () => {
      const state = async () => (await record('172.17.0.11'))?.state;
      expect(await state()).to.equal('fresh');
      await allocate(served, 'a');
      expect(await state()).to.equal('allocated');
      await bind(served, 'a');
      expect(await state()).to.equal('bound');
      await release(served, 'a');
      expect(await state()).to.equal('held');
      await unbind(served, 'a');
      expect(await state()).to.equal('cooldown');
      served.advanceTime(60_001);
      expect(await state()).to.equal('idle');
      expect((await record('172.17.0.5'))?.state).to.equal('excluded');
    });

    it('GetAddress returns the claim of an address', async () => {
      const { at } = await allocate(served, 'a');
      await bind(served, 'a');
      expect((await record('172.17.0.11'))?.allocation).to.deep.include({ podUid: 'uid-a', at });
      await release(served, 'a');
      const released = await record('172.17.0.11');
      expect(released).to.deep.include({
        subnet: 'macvlan',
        address: '172.17.0.11',
        releasedFromUid: 'uid-a',
        lastSeq: 5,
      });
      expect(released).to.not.have.property('allocation');
      expect(released?.availableAt, 'without a binding timeout').to.equal('');
    });

    it('GetAddress accepts every spelling of an IPv6 address', async () => {
      await applySubnet(served, 'six', { cidrBlock: 'fd00::/64' });
      expect(await record('FD00:0:0::0a', 'six')).to.include({ address: 'fd00::a', state: 'fresh' });
    });

    const unknown: [object, object][] = [
      [
        { subnet: 'x', address: '10.0.0.1' },
        { status: 'NOT_FOUND', code: 'SUBNET_UNKNOWN', message: 'no subnet x is configured' },
      ],
      [
        { address: '10.0.0.1' },
        {
          status: 'NOT_FOUND',
          code: 'ADDRESS_UNKNOWN',
          message: '10.0.0.1 is not a host address of subnet macvlan, and the ledger has no claim of it',
        },
      ],
      [
        { address: 'here' },
        {
          status: 'INVALID_ARGUMENT',
          code: 'INVALID_REQUEST',
          message: 'failed to parse IP here: write one address without a mask',
        },
      ],
      [{ subnet: '' }, { status: 'INVALID_ARGUMENT', code: 'INVALID_REQUEST', message: 'subnet is missing' }],
      [{ address: '' }, { status: 'INVALID_ARGUMENT', code: 'INVALID_REQUEST', message: 'address is missing' }],
    ];
    for (const [request, refusal] of unknown)
      it(`GetAddress rejects ${JSON.stringify(request)}`, async () => {
        expect(
          await served.refusal(IpamService.getAddress, { subnet: 'macvlan', address: '172.17.0.11', ...request }),
        ).to.deep.equal(refusal);
      });
  });

  describe('ListAllocations', () => {
    const pods = async (request: object = {}) => {
      const { allocations, nextPageToken } = await served.call(IpamService.listAllocations, request);
      return [allocations.map(({ attachment }) => attachment?.pod).join(' '), nextPageToken];
    };
    beforeEach(async () => {
      await applySubnet(served, 'other', { cidrBlock: '10.0.0.0/24' });
      await allocate(served, 'a', {}, { node: 'node-1' });
      await allocate(served, 'b', { provider: 'other.default', subnets: ['other'] });
      await allocate(served, 'a', {}, { namespace: 'kube', node: 'node-2' });
      await allocate(served, 'c');
      await release(served, 'c');
      await allocate(served, 'd', {}, { node: 'node-1' });
    });

    it('ListAllocations returns allocations in the order of their events, with a position', async () => {
      expect(await pods()).to.deep.equal(['a b a d', '']);
      const { position } = await served.call(IpamService.listAllocations, {});
      expect(position).to.include({ epoch: 1, seq: served.replica.head.seq });
    });

    it('ListAllocations filters by subnet, namespace, Pod and node', async () => {
      expect(await pods({ subnet: 'macvlan' })).to.deep.equal(['a a d', '']);
      expect(await pods({ namespace: 'default' })).to.deep.equal(['a b d', '']);
      expect(await pods({ pod: 'a' })).to.deep.equal(['a a', '']);
      expect(await pods({ namespace: 'kube', pod: 'a' })).to.deep.equal(['a', '']);
      expect(await pods({ node: 'node-1' })).to.deep.equal(['a d', '']);
      expect(await pods({ node: 'node-1', namespace: 'kube' })).to.deep.equal(['', '']);
    });

    it('ListAllocations returns pages that stay consistent while allocations change', async () => {
      const [first, token] = await pods({ pageSize: 2 });
      expect(first).to.equal('a b');
      await release(served, 'a');
      await allocate(served, 'e');
      const [second, next] = await pods({ pageSize: 2, pageToken: token });
      expect(second).to.equal('a d');
      expect(await pods({ pageSize: 2, pageToken: next })).to.deep.equal(['e', '']);
    });

    it('ListAllocations rejects a token that is not from a reply', async () => {
      for (const pageToken of ['x', '-1', '1.5'])
        expect(await served.refusal(IpamService.listAllocations, { pageToken })).to.deep.equal({
          status: 'INVALID_ARGUMENT',
          code: 'INVALID_REQUEST',
          message: `page_token "${pageToken}" is not from a reply: omit it to read the first page`,
        });
    });
  });

  it('the error of a standby names the writer that it cannot reach, even while the ledger is frozen, or why there is no writer', async () => {
    const reason = { epoch: 1, seq: 99, hash: 'ab', by: 'ipledger://watcher', at: '2026-11-17T14:05:00.000Z' };
    await served.memory.freeze(reason, await served.memory.head(never), never);
    await served.stepDown('127.0.0.1:1');
    expect(await served.refusal(IpamService.allocate, allocateRequest('a'))).to.deep.equal({
      status: 'UNAVAILABLE',
      code: 'NOT_WRITER',
      message: 'this allocator is a standby; the writer is at 127.0.0.1:1',
    });
    await served.stepDown(undefined);
    expect(await served.refusal(IpamService.allocate, allocateRequest('a'))).to.deep.equal({
      status: 'UNAVAILABLE',
      code: 'LEDGER_NOT_WRITABLE',
      message:
        'no allocator is the writer: no address can be allocated or released. Follow the runbook IpledgerNoWriter',
    });
  });
});

import { expect } from 'chai';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { appliedSubnet, heldAllocation, podNamed, until } from '../../testing/fakes.ts';
import type { IpamClaimObject } from '../../kubernetes/objects/ipam-claim.ts';
import {
  claim,
  createIpamClaimWorld,
  demand,
  finalizers,
  type IpamClaimWorldOptions,
  reservedForVm1,
} from './testing/ipam-claim-world.ts';

const deletionTimestamp = '2026-11-17T14:05:00Z';

describe('the controller of IPAMClaims', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  const createWorld = (present: readonly IpamClaimObject[], options: IpamClaimWorldOptions = {}) =>
    createIpamClaimWorld(stop.signal, present, options);

  const conditionOf = ({ statuses }: { statuses: UntypedJson[] }): UntypedJson =>
    ((statuses.at(-1)?.['conditions'] ?? []) as UntypedJson[])[0] ?? {};

  it('the controller of IPAMClaims ignores an IPAMClaim that no Pod names', async () => {
    // Given: an IPAMClaim of another controller at the start of the watcher.
    const { patches, statuses, reserved } = await createWorld([claim('vm1')]);
    // Then: it changes nothing.
    expect([patches, statuses, reserved]).to.deep.equal([[], [], []]);
  });

  it('the controller of IPAMClaims creates an IPAMClaim that a Pod names, or reports the reason to the Pod', async () => {
    const world = await createWorld([]);
    world.controller.request('default/vm', [demand]);
    await until(() => world.created.length >= 1);
    expect(world.created).to.deep.equal([demand]);
    world.failure.create = new ApiError(403, 'exceeded quota');
    world.controller.request('default/vm', [demand]);
    await until(() => world.controller.view('default/vm1').problem !== '');
    expect(world.controller.view('default/vm1').problem).to.contain('exceeded quota');
    expect(world.woken).to.include('claim:default/vm1');
  });

  it('the controller of IPAMClaims reserves an address for the first Pod that names an IPAMClaim, and shows it with its prefix length', async () => {
    // Given: an IPAMClaim. When: a Pod demands addresses for it.
    const world = await createWorld([claim('vm1')]);
    world.controller.request('default/vm', [demand]);
    await until(() => world.statuses.length >= 1);
    expect(world.woken, 'the Pod, once').to.deep.equal(['claim:default/vm1']);
    // Then: the first Subnet's next address is reserved before the IPAMClaim shows it.
    expect(world.reserved).to.deep.equal([
      {
        subnet: 'macvlan',
        addresses: [],
        reservedFor: 'ipamclaim/default/vm1',
        reason: 'IPAMClaim default/vm1',
        ipFamily: '',
      },
    ]);
    expect(world.patches[0]).to.deep.include({ metadata: { uid: 'uid-vm1', resourceVersion: '', finalizers } });
    expect(world.statuses[0]).to.deep.include({ ips: ['10.0.0.2/24'], ownerPod: null });
    expect(conditionOf(world)).to.include({ type: 'IPsAllocated', status: 'True', reason: 'SuccessfulAllocation' });
    expect(world.events).to.deep.equal([
      'SuccessfulAllocation: reserved 10.0.0.2 of Subnet macvlan for the claim until it is deleted',
    ]);
    expect(world.controller.view('default/vm1').reserved).to.deep.equal({
      subnet: 'macvlan',
      addresses: ['10.0.0.2'],
      owner: 'ipamclaim/default/vm1',
    });
  });

  it('the controller of IPAMClaims soon serves the IPAMClaim of another namespace while 1,200 of one namespace fail', async () => {
    // Given: 1,200 IPAMClaims that request an address that is not available.
    const failing = Array.from({ length: 1_200 }, (_, index) => `failing-${index}`);
    const ofTenant = { namespace: 'tenant' };
    const world = await createWorld([...failing.map((name) => claim(name, { metadata: ofTenant })), claim('vm1')]);
    world.refusals.set('other', new IpledgerError('ADDRESS_IN_USE', 'in use'));
    for (const name of failing)
      world.controller.request(`tenant/${name}`, [{ ...demand, claim: `tenant/${name}`, subnets: ['other'] }]);
    await until(() => world.reserved.length > 10);
    // When: a Pod of another namespace names its IPAMClaim.
    const before = world.reserved.length;
    world.controller.request('default/vm', [demand]);
    await until(() => world.reserved.some(({ subnet }) => subnet === 'macvlan'));
    // Then: only the reservations that were in progress precede it.
    expect(world.reserved.findIndex(({ subnet }) => subnet === 'macvlan') - before).to.be.lessThan(8);
  });

  it('the controller of IPAMClaims retries only IPAMClaims that name the Subnet of a released address', async () => {
    const world = await createWorld([claim('vm1'), claim('vm2')]);
    for (const subnet of ['macvlan', 'other']) world.refusals.set(subnet, new IpledgerError('SUBNET_FULL', 'full'));
    world.controller.request('default/vm', [{ ...demand, subnets: ['macvlan'] }]);
    world.controller.request('default/vm-2', [{ ...demand, claim: 'default/vm2', subnets: ['other'] }]);
    await until(() => ['vm1', 'vm2'].every((name) => world.controller.view(`default/${name}`).problem === 'full'));
    await until(() => world.statuses.length === 2);
    const before = world.reserved.length;
    const released = { namespace: 'default', pod: 'web', uid: 'u', addresses: ['10.0.0.9'] };
    world.controller.onEvents([{ kind: 'released', seq: 60, subnet: 'other', ...released }]);
    await until(() => world.reserved.length > before);
    expect(world.reserved.slice(before).map(({ subnet }) => subnet)).to.deep.equal(['other']);
  });

  it('the controller of IPAMClaims reserves the addresses of spec.ipRequests and not those that the Pod requests', async () => {
    const world = await createWorld([claim('vm1', { spec: { ipRequests: [' 10.0.0.9/24 '] } })]);
    world.controller.request('default/vm', [{ ...demand, addresses: ['10.0.0.8'] }]);
    await until(() => world.statuses.length >= 1);
    expect(world.reserved[0]?.addresses).to.deep.equal(['10.0.0.9']);
  });

  it('the controller of IPAMClaims reserves the addresses that the Pod requests if spec.ipRequests has none', async () => {
    const world = await createWorld([claim('vm1')]);
    world.controller.request('default/vm', [{ ...demand, addresses: ['10.0.0.8'] }]);
    await until(() => world.statuses.length >= 1);
    expect(world.reserved[0]?.addresses).to.deep.equal(['10.0.0.8']);
  });

  it('the controller of IPAMClaims reserves for one IPAMClaim after the other, so that the quota counts both', async () => {
    const names = ['vm1', 'vm2', 'vm3'];
    const claims = names.map((name, index) => claim(name, { spec: { ipRequests: [`10.0.0.${index + 2}/24`] } }));
    const world = await createWorld(claims, { quota: 2 });
    for (const name of names)
      world.controller.request(`default/${name}`, [{ ...demand, claim: `default/${name}`, subnets: ['macvlan'] }]);
    await until(() => world.statuses.length >= 3);
    expect(world.reserved).to.have.length(2);
    expect(world.controller.view('default/vm3').problem).to.contain('the limit is 2');
  });

  it('the controller of IPAMClaims shows that no Subnet serves the network of an IPAMClaim', async () => {
    const world = await createWorld([claim('vm1')]);
    world.controller.request('default/vm', [{ ...demand, subnets: [] }]);
    await until(() => world.statuses.length >= 1);
    expect(conditionOf(world)).to.include({ status: 'False', message: 'no Subnet serves the network of the claim' });
  });

  it('the controller of IPAMClaims retries an IPAMClaim when any of its Subnets has room, and ignores IPAMClaims that no Pod names any more', async () => {
    const world = await createWorld([claim('vm1'), claim('vm2')]);
    for (const subnet of demand.subnets) world.refusals.set(subnet, new IpledgerError('SUBNET_FULL', 'full'));
    world.controller.request('default/vm', [demand]);
    world.controller.request('default/vm-2', [{ ...demand, claim: 'default/vm2' }]);
    await until(() => world.statuses.length === 2);
    world.controller.request('default/vm-2', []);
    const before = world.reserved.length;
    world.refusals.clear();
    world.controller.onEvents([{ kind: 'unquarantined', subnet: 'macvlan-2', address: '10.0.0.9' }]);
    await until(() => world.controller.view('default/vm1').reserved !== undefined);
    expect(world.reserved.slice(before).map(({ reservedFor }) => reservedFor)).to.deep.equal(['ipamclaim/default/vm1']);
  });

  it('the controller of IPAMClaims wakes the Pod when another client ends the reservation', async () => {
    const world = await createWorld([claim('vm1', { metadata: { finalizers } })], { reservations: [reservedForVm1] });
    world.woken.length = 0;
    world.controller.onEvents([{ kind: 'unreserved', ...reservedForVm1 }]);
    expect(world.woken).to.deep.equal(['claim:default/vm1']);
  });

  it('the controller of IPAMClaims shows an address of a Subnet that the ledger no longer has, as a single address', async () => {
    const gone = { ...reservedForVm1, subnet: 'gone' };
    const world = await createWorld([claim('vm1', { metadata: { finalizers } })], { reservations: [gone] });
    await until(() => world.statuses.length >= 1);
    expect(world.statuses[0]).to.deep.include({ ips: ['10.0.0.2/32'] });
  });

  it('the controller of IPAMClaims reserves in the next Subnet if the first is full', async () => {
    const world = await createWorld([claim('vm1')]);
    world.refusals.set('macvlan', new IpledgerError('SUBNET_FULL', 'NoAvailableAddress'));
    world.controller.request('default/vm', [demand]);
    await until(() => world.statuses.length >= 1);
    expect(world.reserved.map(({ subnet }) => subnet)).to.deep.equal(['macvlan', 'macvlan-2']);
  });

  it('the controller of IPAMClaims reserves in no other Subnet if the allocator does not answer, because it may have reserved', async () => {
    const world = await createWorld([claim('vm1')]);
    world.refusals.set('macvlan', new IpledgerError('UNAVAILABLE', 'connection lost'));
    world.controller.request('default/vm', [demand]);
    await until(() => world.reserved.length >= 2);
    expect(world.reserved.map(({ subnet }) => subnet)).to.deep.equal(['macvlan', 'macvlan']);
  });

  it('the controller of IPAMClaims retries an IPAMClaim at once when its Subnet is changed, and then wakes the Pod', async () => {
    const world = await createWorld([claim('vm1')]);
    world.refusals.set('macvlan', new IpledgerError('SUBNET_FULL', 'full'));
    world.controller.request('default/vm', [{ ...demand, subnets: ['macvlan'] }]);
    await until(() => world.statuses.length >= 1);
    const before = world.reserved.length;
    world.refusals.clear();
    world.woken.length = 0;
    world.controller.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('macvlan') }]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.reserved.length - before, 'without a backoff').to.equal(1);
    expect(world.controller.view('default/vm1')).to.include({ problem: '' });
    expect(world.woken).to.include('claim:default/vm1');
  });

  it('the controller of IPAMClaims retries all IPAMClaims at once after a snapshot of the ledger', async () => {
    const world = await createWorld([claim('vm1')]);
    world.refusals.set('macvlan', new IpledgerError('SUBNET_FULL', 'full'));
    world.controller.request('default/vm', [{ ...demand, subnets: ['macvlan'] }]);
    await until(() => world.statuses.length >= 1);
    const before = world.reserved.length;
    world.controller.onSnapshot({ seq: 60, allocations: [], subnets: [], pools: [], reservations: [] });
    await new Promise((resolve) => setImmediate(resolve));
    expect(world.reserved.length - before, 'without a backoff').to.equal(1);
  });

  it('the controller of IPAMClaims drops the problem of a missing IPAMClaim and wakes the Pod when a user creates it', async () => {
    const world = await createWorld([]);
    world.failure.create = new ApiError(403, 'exceeded quota');
    world.controller.request('default/vm', [demand]);
    await until(() => world.controller.view('default/vm1').problem !== '');
    world.controller.request('default/vm', []);
    world.woken.length = 0;
    world.objects.put(claim('vm1'));
    expect(world.controller.view('default/vm1').problem).to.equal('');
    expect(world.woken).to.deep.equal(['claim:default/vm1']);
  });

  it('the controller of IPAMClaims shows that an IPAMClaim waits for a Pod if the ledger has lost its addresses', async () => {
    const world = await createWorld([claim('vm1', { metadata: { finalizers } })]);
    await until(() => world.statuses.length >= 1);
    expect(conditionOf(world)['message']).to.equal(
      'the claim has no address: an address is reserved when a Pod names the claim in its networks annotation',
    );
    expect(world.reserved).to.deep.equal([]);
  });

  it('the first Pod that names an IPAMClaim decides its Subnet, and after its deletion another Pod does', async () => {
    const world = await createWorld([claim('vm1')]);
    world.refusals.set('macvlan', new IpledgerError('SUBNET_FULL', 'full'));
    world.controller.request('default/first', [{ ...demand, subnets: ['macvlan'] }]);
    await until(() => world.controller.view('default/vm1').problem === 'full');
    const second = [{ ...demand, subnets: ['macvlan-2'] }];
    world.controller.request('default/second', second);
    world.controller.onEvents([{ kind: 'subnet-configured', subnet: appliedSubnet('macvlan') }]);
    await until(() => world.reserved.length >= 2);
    expect(world.reserved.map(({ subnet }) => subnet)).to.deep.equal(['macvlan', 'macvlan']);
    world.controller.request('default/first', []);
    world.controller.request('default/second', second);
    await until(() => world.controller.view('default/vm1').reserved?.subnet === 'macvlan-2');
  });

  it('the controller of IPAMClaims writes nothing to an IPAMClaim that shows its addresses since before its start', async () => {
    const object = claim('vm1', { metadata: { finalizers } });
    const before = await createWorld([object], { reservations: [reservedForVm1] });
    await until(() => before.statuses.length >= 1);
    const world = await createWorld([{ ...object, status: before.statuses[0] ?? {} }], {
      reservations: [reservedForVm1],
    });
    expect([world.statuses, world.patches]).to.deep.equal([[], []]);
  });

  const refusals: [code: 'SUBNET_FULL' | 'ADDRESS_IN_USE' | 'ADDRESS_OUT_OF_RANGE', reason: string][] = [
    ['SUBNET_FULL', 'SubnetExhausted'],
    ['ADDRESS_IN_USE', 'IPAddressConflict'],
    ['ADDRESS_OUT_OF_RANGE', 'AllocationFailed'],
  ];
  for (const [code, reason] of refusals)
    it(`the controller of IPAMClaims shows ${reason} if the allocator answers ${code}`, async () => {
      const world = await createWorld([claim('vm1')]);
      for (const subnet of demand.subnets) world.refusals.set(subnet, new IpledgerError(code, 'the reason'));
      world.controller.request('default/vm', [demand]);
      await until(() => world.statuses.length >= 1);
      expect(conditionOf(world)).to.include({ status: 'False', reason, message: 'the reason' });
      expect(world.controller.view('default/vm1').problem).to.equal('the reason');
      expect(world.events).to.deep.equal([`${reason}: the reason`]);
    });

  it('the quota of a Subnet counts the addresses of a namespace’s Pods and of its IPAMClaims', async () => {
    // Given: a quota of 2, an address of a Pod, and an address of an IPAMClaim.
    const other = { ...reservedForVm1, address: '10.0.0.3', reservedFor: 'ipamclaim/default/idle' };
    const world = await createWorld([claim('vm1'), claim('idle', { metadata: { finalizers } })], {
      quota: 2,
      reservations: [other],
      allocations: [heldAllocation('web')],
    });
    // When: a Pod demands addresses for another IPAMClaim.
    world.controller.request('default/vm', [{ ...demand, subnets: ['macvlan'] }]);
    await until(() => world.controller.view('default/vm1').problem !== '');
    // Then: that IPAMClaim gets none.
    expect(world.reserved).to.deep.equal([]);
    expect(world.controller.view('default/vm1').problem).to.contain(
      'have 2 addresses of subnet macvlan, the limit is 2',
    );
  });

  it('the quota of a Subnet counts one address for an IPAMClaim of one family in a dual-stack Subnet', async () => {
    const world = await createWorld([claim('vm1'), claim('dual')], { quota: 1, cidrBlock: '10.0.0.0/24,fd00::/64' });
    world.controller.request('default/vm-2', [{ ...demand, claim: 'default/dual', subnets: ['macvlan'] }]);
    await until(() => world.controller.view('default/dual').problem.includes('and 2 more are requested'));
    world.controller.request('default/vm', [{ ...demand, subnets: ['macvlan'], ipFamily: 'ipv4' }]);
    await until(() => world.controller.view('default/vm1').reserved !== undefined);
    expect(world.reserved.map(({ ipFamily }) => ipFamily)).to.deep.equal(['ipv4']);
  });

  it('the controller of IPAMClaims refuses an IPAMClaim of a namespace that requests addresses too often', async () => {
    const world = await createWorld([claim('vm1'), claim('vm2')], { burst: 1 });
    world.controller.request('default/vm', [demand]);
    await until(() => world.controller.view('default/vm1').reserved !== undefined);
    world.controller.request('default/vm-2', [{ ...demand, claim: 'default/vm2' }]);
    await until(() => world.controller.view('default/vm2').problem !== '');
    expect(world.controller.view('default/vm2').problem).to.match(/^namespace default requests addresses too often/);
    expect(world.reserved).to.have.length(1);
  });

  it('the controller of IPAMClaims refuses an address of an IPPool that is for other namespaces', async () => {
    const world = await createWorld([claim('vm1', { spec: { ipRequests: ['10.0.0.9/24'] } })], { pool: 'of-shop' });
    world.controller.request('default/vm', [demand]);
    await until(() => world.statuses.length >= 1);
    expect(world.reserved).to.deep.equal([]);
    expect(conditionOf(world)['message']).to.contain("can't have 10.0.0.9 of ippool of-shop");
  });

  it('the controller of IPAMClaims refuses a spec over its limits before any other work', async () => {
    const world = await createWorld([
      claim('vm1', { spec: { ipRequests: ['1', '2', '3'].map((n) => `10.0.0.${n}/24`) } }),
    ]);
    world.controller.request('default/vm', [demand]);
    await until(() => world.statuses.length >= 1);
    expect(world.reserved).to.deep.equal([]);
    expect(conditionOf(world)['message']).to.contain('spec.ipRequests has 3 addresses, and at most 2 are taken');
  });

  it('the status of an IPAMClaim shows the Pod that holds the addresses', async () => {
    const world = await createWorld([claim('vm1', { metadata: { finalizers } })], { reservations: [reservedForVm1] });
    await until(() => world.statuses.length >= 1);
    world.pods.put(podNamed('vm'));
    world.controller.onEvents([{ kind: 'allocated', allocation: heldAllocation('vm') }]);
    await until(() => world.statuses.at(-1)?.['ownerPod'] !== null);
    expect(world.statuses.at(-1)).to.deep.include({ ips: ['10.0.0.2/24'], ownerPod: { name: 'vm' } });
  });

  it('the status of an IPAMClaim shows the Pod that holds the addresses when the watch reports that Pod later than the ledger', async () => {
    const held = { reservations: [reservedForVm1], allocations: [heldAllocation('vm')] };
    const world = await createWorld([claim('vm1', { metadata: { finalizers } })], held);
    await until(() => world.statuses.at(-1)?.['ownerPod'] === null);
    world.pods.put(podNamed('vm'));
    await until(() => world.statuses.at(-1)?.['ownerPod'] !== null);
    expect(world.statuses.at(-1)).to.deep.include({ ownerPod: { name: 'vm' } });
  });

  it('the controller of IPAMClaims restores a status that another client edited, and changes no address', async () => {
    const object = claim('vm1', { metadata: { finalizers } });
    const world = await createWorld([object], { reservations: [reservedForVm1] });
    await until(() => world.statuses.length >= 1);
    const before = world.statuses.length;
    const edited = { ips: ['10.0.0.99/24'], ownerPod: { name: 'thief' } };
    world.objects.put({ ...object, resourceVersion: '2', status: { ...world.statuses[0], ...edited } });
    await until(() => world.statuses.length > before);
    expect(world.statuses.at(-1)).to.deep.include({ ips: ['10.0.0.2/24'], ownerPod: null });
    expect([world.reserved, world.unreserved]).to.deep.equal([[], []]);
  });

  const deleted = claim('vm1', { metadata: { finalizers, deletionTimestamp } });

  it('the controller of IPAMClaims releases the addresses of a deleted IPAMClaim, and then removes the finalizer', async () => {
    const world = await createWorld([deleted], { reservations: [reservedForVm1] });
    await until(() => world.patches.length >= 1);
    expect(world.unreserved).to.deep.equal([
      {
        subnet: 'macvlan',
        reservedFor: 'ipamclaim/default/vm1',
        addresses: [],
        reason: 'IPAMClaim default/vm1 was deleted',
      },
    ]);
    expect(world.patches[0]).to.deep.include({ metadata: { uid: 'uid-vm1', resourceVersion: '', finalizers: [] } });
    expect(world.controller.view('default/vm1').reserved).to.equal(undefined);
    expect(world.events).to.deep.equal(['Released: released 10.0.0.2 of Subnet macvlan: the claim was deleted']);
  });

  it('the controller of IPAMClaims keeps a deleted IPAMClaim while a Pod uses its addresses', async () => {
    const object = claim('vm1', { metadata: { finalizers } });
    const held = { reservations: [reservedForVm1], allocations: [heldAllocation('vm')] };
    const world = await createWorld([object], held);
    world.pods.put(podNamed('vm'));
    world.objects.put(deleted);
    await until(() => world.events.length >= 1);
    expect(world.events[0]).to.contain('IPAMClaimInUse: the claim is being deleted, and Pod vm uses 10.0.0.2');
    expect(world.unreserved).to.deep.equal([]);
    world.pods.drop(podNamed('vm'));
    await until(() => world.unreserved.length >= 1);
  });

  it('the controller of IPAMClaims releases the addresses of an IPAMClaim that was deleted without its finalizer', async () => {
    const world = await createWorld([], { reservations: [reservedForVm1] });
    expect(world.unreserved).to.have.length(1);
  });

  it('the controller of IPAMClaims releases nothing while the API server does not serve the kind', async () => {
    const world = await createWorld([], { reservations: [reservedForVm1], isServed: false });
    expect(world.unreserved).to.deep.equal([]);
  });
});

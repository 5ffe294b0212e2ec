import { expect } from 'chai';
import { fakeLedgerClient } from '../../../../lib/ledger-client/testing/fake-ledger-client.ts';
import { ApiError } from '../../../../lib/kubernetes/client/api-error.ts';
import { IpledgerError } from '../../../../lib/errors.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import type { MessageInput } from '../../../../proto/codec.ts';
import type { ReserveRequest, UnreserveRequest } from '../../../../proto/generated/ipledger.ts';
import {
  appliedSubnet,
  FakeInformer,
  heldAllocation,
  podNamed,
  silentLogger,
  subnetNamed,
  until,
} from '../../testing/fakes.ts';
import { LedgerPods } from '../../kubernetes/ledger-pods.ts';
import { type IpamClaimObject, ipamClaims } from '../../kubernetes/objects/ipam-claim.ts';
import type { Pod } from '../../kubernetes/objects/pod.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import type { HeldAllocation, ReservedAddress } from '../../ledger/ledger-events.ts';
import { AllocationCache } from '../pods/allocation-cache.ts';
import { EventBudget } from '../pods/event-budget.ts';
import type { IpamClaimDemand } from '../pods/planning/ipam-claim-request.ts';
import { SubnetCache } from '../subnets/subnet-cache.ts';
import { IpamClaimController } from './ipam-claim-controller.ts';

const finalizers = ['ipledger.io/ledger'];
const deletionTimestamp = '2026-11-17T14:05:00Z';
const claim = (name: string, { spec = {}, metadata = {}, status = {} } = {}): IpamClaimObject =>
  ipamClaims.parse({
    metadata: { namespace: 'default', name, uid: `uid-${name}`, generation: 1, ...metadata },
    spec: { network: 'macvlan', interface: '', ...spec },
    status,
  });
const demand: IpamClaimDemand = {
  claim: 'default/vm1',
  network: 'macvlan',
  interface: '',
  subnets: ['macvlan', 'macvlan-2'],
  addresses: [],
  ipFamily: '',
};
const reservedForVm1: ReservedAddress = {
  seq: 40,
  subnet: 'macvlan',
  address: '10.0.0.2',
  reservedFor: 'ipamclaim/default/vm1',
  reason: 'IPAMClaim default/vm1',
  mac: '',
};

describe('the controller of IPAMClaims', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  interface WorldOptions {
    readonly reservations?: readonly ReservedAddress[];
    readonly allocations?: readonly HeldAllocation[];
    readonly quota?: number;
    /** The IPPool of each address, which is for other namespaces. */
    readonly pool?: string;
    /** Whether the API server serves the kind. */
    readonly isServed?: boolean;
  }

  async function createWorld(
    present: readonly IpamClaimObject[],
    { reservations = [], allocations = [], quota, pool = '', isServed = true }: WorldOptions = {},
  ) {
    const objects = Object.assign(new FakeInformer<IpamClaimObject>(), { resourceVersion: isServed ? '1' : undefined });
    for (const object of present) objects.put(object);
    const pods = new FakeInformer<Pod>();
    const subnetObjects = new FakeInformer<SubnetObject>();
    subnetObjects.put(subnetNamed('macvlan'));
    const subnets = new SubnetCache(subnetObjects.objects);
    const cache = new AllocationCache();
    const reserved: MessageInput<ReserveRequest>[] = [];
    const unreserved: MessageInput<UnreserveRequest>[] = [];
    const created: IpamClaimDemand[] = [];
    const woken: string[] = [];
    const patches: UntypedJson[] = [];
    const statuses: UntypedJson[] = [];
    const events: string[] = [];
    const refusals = new Map<string, IpledgerError>();
    const failure: { create?: Error } = {};
    const controller = new IpamClaimController({
      objects,
      pods,
      ledgerPods: new LedgerPods(pods),
      allocator: fakeLedgerClient({
        reserve: (request) => {
          reserved.push(request);
          const refusal = refusals.get(request.subnet ?? '');
          const addresses = request.addresses?.length ? request.addresses : ['10.0.0.2'];
          return refusal ? Promise.reject(refusal) : { records: addresses.map((address) => ({ address })) };
        },
        unreserve: (request) => {
          unreserved.push(request);
          return {};
        },
        getAddress: () => ({ record: { pool } }),
      }),
      quota: { subnets, allocations: cache },
      budget: new EventBudget(),
      namespacesOfPool: () => ['shop'],
      ipamClaimOwnerOf: () => ({ apiVersion: 'v1', kind: 'Pod', name: 'vm', uid: 'u' }),
      create: (each) => {
        created.push(each);
        return failure.create ? Promise.reject(failure.create) : Promise.resolve();
      },
      wakeWaiters: (topic) => void woken.push(topic),
      write: (_object, body) => Promise.resolve(void patches.push(body)),
      writeStatus: (_object, body) => Promise.resolve(void statuses.push(body)),
      recordEvent: (_object, { reason, message }) => void events.push(`${reason}: ${message}`),
      log: silentLogger,
      signal: stop.signal,
    });
    const { spec, ...subnet } = appliedSubnet('macvlan');
    const limited = { ...subnet, spec: { ...spec, ...(quota !== undefined && { maxAddressesPerNamespace: quota }) } };
    const snapshot = { seq: 50, allocations, subnets: [limited, appliedSubnet('macvlan-2')], pools: [], reservations };
    for (const subscriber of [subnets, cache, controller]) subscriber.onSnapshot(snapshot);
    await controller.start();
    return {
      controller,
      objects,
      pods,
      reserved,
      unreserved,
      created,
      woken,
      patches,
      statuses,
      events,
      refusals,
      failure,
    };
  }

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

  it('the controller of IPAMClaims reserves in the next Subnet if the first is full', async () => {
    const world = await createWorld([claim('vm1')]);
    world.refusals.set('macvlan', new IpledgerError('SUBNET_FULL', 'NoAvailableAddress'));
    world.controller.request('default/vm', [demand]);
    await until(() => world.statuses.length >= 1);
    expect(world.reserved.map(({ subnet }) => subnet)).to.deep.equal(['macvlan', 'macvlan-2']);
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

import { expect } from 'chai';
import { heldAllocation, until } from '../../testing/fakes.ts';
import { type HeldAllocation, type LedgerEvent, podKeyOf } from '../../ledger/ledger-events.ts';
import { ConflictingAddresses } from './conflicting-addresses.ts';
import {
  annotationKey,
  defaultRequest,
  planOf,
  requestOfAddresses,
  statefulSet,
} from './planning/testing/plan.fixture.ts';
import {
  allocationEnded,
  createPodControllerWorld,
  podWithNetwork,
  waitForIdle,
} from './testing/pod-controller-world.ts';

const addressKey = annotationKey('ip_address');
const poolKey = annotationKey('ip_pool');
/** The annotations of a Pod that holds an address. */
const shows = (address: string) => ({ [addressKey]: address, [annotationKey('allocated')]: 'true' });
const gaveUp = (...addresses: string[]) => ({
  conflicts: addresses.map((address) => ({ provider: 'macvlan.default', ordinal: 0, address, isStatic: false })),
});

describe('the addresses that a Pod gave up', () => {
  const [pod, uid] = ['default/a', 'uid-a'];
  const dual = (...addresses: string[]) => addresses.map((address) => ({ address, cidr: '', gateway: '' }));
  const of = (conflicts: ConflictingAddresses): string[] => conflicts.of(pod, uid).map(({ address }) => address);

  it('the addresses that a Pod gave up are those of its uid, until this attachment gets them again', () => {
    const conflicts = new ConflictingAddresses();
    conflicts.add(heldAllocation('a', { seq: 7, addresses: dual('10.0.0.2', 'fd00::2') }));
    conflicts.add(heldAllocation('a', { seq: 9, addresses: dual('10.0.0.3') }));
    conflicts.onAllocated(heldAllocation('a', { seq: 9, addresses: dual('10.0.0.3') }));
    conflicts.onAllocated(heldAllocation('a', { seq: 10, ordinal: 1, addresses: dual('10.0.0.2') }));
    expect(of(conflicts), 'neither its own allocation nor another attachment').to.have.length(3);
    conflicts.onAllocated(heldAllocation('a', { seq: 11, addresses: dual('10.0.0.2', 'fd00::9') }));
    expect(of(conflicts)).to.deep.equal(['fd00::2', '10.0.0.3']);
    expect(conflicts.of(pod, 'another')).to.deep.equal([]);
    conflicts.onAllocated(heldAllocation('a', { seq: 12, addresses: dual('10.0.0.3', 'fd00::2') }));
    expect(of(conflicts)).to.deep.equal([]);
  });
});

describe('the request of a Pod after a conflict on the wire', () => {
  it('The request of a Pod after a conflict on the wire is for the list of its ip_pool, or for its IPPool, although ip_address still shows the address', () => {
    const list = { ...shows('10.0.0.1'), [poolKey]: '10.0.0.1,10.0.0.2' };
    expect(planOf('macvlan', list, gaveUp('10.0.0.1')).attachments).to.deep.equal([
      requestOfAddresses(['10.0.0.1'], ['10.0.0.2']),
    ]);
    const named = { ...shows('10.0.0.1'), [poolKey]: 'pool-1' };
    expect(planOf('macvlan', named, gaveUp('10.0.0.1')).attachments).to.deep.equal([
      { ...defaultRequest, subnets: ['macvlan-2'], pool: 'pool-1' },
    ]);
    const onInterface = { [annotationKey('ip_address.net1')]: '10.0.0.1', [poolKey]: '10.0.0.1,10.0.0.2' };
    expect(planOf('macvlan@net1', onInterface, gaveUp('10.0.0.1')).attachments[0]?.candidates).to.have.length(2);
  });

  it('The request of a Pod after a conflict on the wire is for the entry of its place, if it is a member of a StatefulSet with a list', () => {
    const list = { ...shows('10.0.0.2'), [poolKey]: '10.0.0.1,10.0.0.2' };
    const plan = planOf('macvlan', list, { owner: statefulSet, ...gaveUp('10.0.0.2') });
    expect(plan.attachments).to.deep.equal([requestOfAddresses(['10.0.0.2'])]);
  });

  it('The request of a Pod after a conflict on the wire is for the same address if the Pod requests one address: by ip_address without ip_pool, or beside the network', () => {
    expect(planOf('macvlan', shows('10.0.0.1'), gaveUp('10.0.0.1')).attachments).to.deep.equal([
      requestOfAddresses(['10.0.0.1']),
    ]);
    const ips = planOf('[{"name":"macvlan","ips":["10.0.0.1/16"]}]', { [poolKey]: 'pool-1' }, gaveUp('10.0.0.1'));
    expect(ips.attachments).to.deep.equal([requestOfAddresses(['10.0.0.1'])]);
  });

  it('The request of a Pod after a conflict on the wire is for the same address if the Pod requests it in a namespace with an IPPool, and for another one if the IPPool gave it', () => {
    const annotations = { 'ovn.kubernetes.io/ip_address': '10.0.0.9' };
    const [named, ofPool] = [true, false].map((isStatic) => {
      const conflicts = [{ provider: 'ovn', ordinal: 0, address: '10.0.0.9', isStatic }];
      return planOf('', annotations, { namespace: 'drawing', conflicts }).attachments[0];
    });
    expect(named).to.deep.include({ candidates: [{ addresses: ['10.0.0.9'] }], pool: '' });
    expect(ofPool).to.deep.include({ candidates: [], pool: 'of-namespace' });
  });

  it('The request of a Pod after a conflict on the wire is for the address that ip_address shows, if another address or another attachment had the conflict', () => {
    const list = { ...shows('10.0.0.3'), [poolKey]: '10.0.0.1,10.0.0.2' };
    const own = [requestOfAddresses(['10.0.0.3'])];
    expect(planOf('macvlan', list, gaveUp('10.0.0.1')).attachments).to.deep.equal(own);
    for (const other of [{ ordinal: 1 }, { provider: 'vlan.default' }]) {
      const conflicts = [{ provider: 'macvlan.default', ordinal: 0, address: '10.0.0.3', isStatic: false, ...other }];
      expect(planOf('macvlan', list, { conflicts }).attachments).to.deep.equal(own);
    }
  });
});

describe('the Pod controller after a conflict on the wire', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  const annotations = { ...shows('10.0.0.9'), [poolKey]: '10.0.0.9,10.0.0.8' };
  const held = heldAllocation('a', { addresses: [{ address: '10.0.0.9', cidr: '10.0.0.0/24', gateway: '10.0.0.1' }] });
  const endedByConflict = (allocation: HeldAllocation): LedgerEvent => {
    const ended = allocationEnded(allocation);
    const { provider, ordinal } = allocation;
    return ended.kind === 'released' ? { ...ended, conflict: { provider, ordinal } } : ended;
  };

  it('an address that an attachment gave up stays known when another attachment of the Pod gets it', () => {
    const conflicts = new ConflictingAddresses();
    conflicts.add({ ...held, isStatic: true });
    const known = () => conflicts.of(podKeyOf(held), held.uid).map(({ address, isStatic }) => [address, isStatic]);
    const next = { ...held, seq: held.seq + 1 };
    for (const other of [{ ...next, ordinal: held.ordinal + 1 }, { ...next, provider: 'vlan.default' }, held])
      conflicts.onAllocated(other);
    expect(known()).to.deep.equal([['10.0.0.9', true]]);
    conflicts.onAllocated(next);
    expect(known()).to.deep.equal([]);
  });

  it('an address that a Pod gave up is not one of the next Pod with the same name', () => {
    const conflicts = new ConflictingAddresses();
    conflicts.add(held);
    expect(conflicts.of(podKeyOf(held), 'uid of the next Pod')).to.deep.equal([]);
  });

  /** Starts with a Pod that holds 10.0.0.9 of its list. */
  async function startWithPod() {
    const world = createPodControllerWorld(stop.signal, { allocations: [held] });
    world.pods.put(podWithNetwork('a', { annotations }));
    world.controller.start();
    await waitForIdle();
    return world;
  }

  it('the Pod controller requests another address of the list, and after any other release the shown one', async () => {
    const { allocator, sendEvents } = await startWithPod();
    sendEvents(60, endedByConflict(held));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.attachments?.[0]?.candidates).to.deep.equal([
      { addresses: ['10.0.0.9'] },
      { addresses: ['10.0.0.8'] },
    ]);
    const next = { ...held, seq: 101 };
    sendEvents(101, { kind: 'allocated', allocation: next });
    sendEvents(102, allocationEnded(next));
    await until(() => allocator.allocated.length === 2);
    expect(allocator.allocated[1]?.attachments?.[0]?.candidates).to.deep.equal([{ addresses: ['10.0.0.9'] }]);
  });

  it('the Pod controller requests the list again after a second conflict, while ip_address still shows the first', async () => {
    const { allocator, sendEvents } = await startWithPod();
    sendEvents(60, endedByConflict(held));
    await until(() => allocator.allocated.length === 1);
    const next = heldAllocation('a', {
      seq: 101,
      addresses: [{ address: '10.0.0.8', cidr: '10.0.0.0/24', gateway: '' }],
    });
    sendEvents(101, { kind: 'allocated', allocation: next });
    sendEvents(102, endedByConflict(next));
    await until(() => allocator.allocated.length === 2);
    expect(allocator.allocated[1]?.attachments?.[0]?.candidates).to.have.length(2);
  });

  it('the Pod controller keeps no conflict for the next Pod of the name', async () => {
    const { allocator, pods, sendEvents } = await startWithPod();
    pods.drop(podWithNetwork('a', { annotations }));
    sendEvents(60, endedByConflict(held));
    await waitForIdle();
    pods.put(podWithNetwork('a', { annotations }));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.attachments?.[0]?.candidates).to.deep.equal([{ addresses: ['10.0.0.9'] }]);
  });
});

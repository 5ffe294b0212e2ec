import { expect } from 'chai';
import { IpledgerError } from '../../../../lib/errors.ts';
import { heldAllocation, until } from '../../testing/fakes.ts';
import { networksAnnotation } from '../../kubernetes/objects/pod.ts';
import type { StatefulSet } from '../../kubernetes/objects/stateful-set.ts';
import {
  beingDeleted,
  allocationEnded,
  macvlan,
  waitForIdle,
  podWithNetwork,
  createPodControllerWorld,
  type PodControllerWorldOptions,
} from './testing/pod-controller-world.ts';

const owner = { kind: 'StatefulSet', name: 'web', uid: 'set' };
const set = (replicas: number, parts: Partial<StatefulSet> = {}): StatefulSet => ({
  namespace: 'default',
  name: 'web',
  uid: 'set',
  resourceVersion: String(replicas),
  deleting: false,
  replicas,
  firstOrdinal: 0,
  ...parts,
});
const reference = { apiVersion: 'apps/v1', ...owner, controller: true };
const member = (ordinal: number, uid: string, parts: Parameters<typeof podWithNetwork>[1] = {}) =>
  podWithNetwork(`web-${ordinal}`, { uid, metadata: { ownerReferences: [reference] }, ...parts });
/** Makes web-2, created again from a template that names an address. */
const memberNaming = (uid: string, address: string) =>
  member(2, uid, {
    annotations: { [networksAnnotation]: 'macvlan', 'macvlan.default.kubernetes.io/ip_address': address },
  });
const held = (ordinal: number, uid: string, parts: Parameters<typeof heldAllocation>[1] = {}) =>
  heldAllocation(`web-${ordinal}`, { seq: 10 + ordinal, uid, owner, ...parts });

describe('a member of a StatefulSet', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: PodControllerWorldOptions = {}) => createPodControllerWorld(stop.signal, options);

  /** Makes three members that exist and are served. */
  function createThreeMembers(options: PodControllerWorldOptions = {}) {
    const created = world({ allocations: [0, 1, 2].map((ordinal) => held(ordinal, `u${ordinal}`)), ...options });
    created.statefulSets.put(set(3));
    for (const ordinal of [0, 1, 2]) created.pods.put(member(ordinal, `u${ordinal}`));
    created.controller.start();
    return created;
  }

  it('WB-621 a member of a StatefulSet keeps its address while it is created again, and transfers it to the new Pod', async () => {
    const { pods, allocator } = createThreeMembers();
    pods.drop(beingDeleted(member(2, 'u2')));
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
    pods.put(member(2, 'new'));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod).to.deep.include({ name: 'web-2', uid: 'new', owner });
  });

  it('a member of a StatefulSet keeps its address for the next Pod when a new Pod is deleted before it has an address', async () => {
    const { pods, allocator } = createThreeMembers();
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(beingDeleted(member(2, 'new')));
    await waitForIdle();
    expect([allocator.allocated, allocator.released]).to.deep.equal([[], []]);
  });

  it('a member of a StatefulSet loses its address when its new Pod uses the network of its node', async () => {
    const { pods, allocator } = createThreeMembers();
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(member(2, 'new', { spec: { hostNetwork: true } }));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'u2' });
  });

  for (const [which, parts] of [
    ['uses the network of its node', { spec: { hostNetwork: true } }],
    ['selects no network', { annotations: { [networksAnnotation]: '' } }],
  ] as const)
    it(`a member of a StatefulSet keeps its address while another Pod has its name, which the StatefulSet did not make and which ${which}`, async () => {
      const { pods, statefulSets, allocator, lookedUp } = createThreeMembers();
      pods.drop(beingDeleted(member(2, 'u2')));
      pods.put(podWithNetwork('web-2', { uid: 'foreign', ...parts }));
      await until(() => lookedUp.length > 0);
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
      statefulSets.put(set(1));
      await until(() => allocator.released.length > 0);
      expect(allocator.released[0]).to.include({ podUid: 'u2', cause: 'RELEASE_CAUSE_SCALED_DOWN' });
    });

  it('a member of a StatefulSet keeps its address if it is evicted, overdue on a lost node, or was deleted while no watcher ran', async () => {
    const { pods, allocator, controller } = createThreeMembers();
    pods.put(member(0, 'u0', { status: { phase: 'Failed', reason: 'Evicted' } }));
    pods.put({ ...member(1, 'u1'), deletionTimestamp: '2026-01-31T08:00:00Z' });
    pods.drop(member(2, 'u2'), false);
    pods.notify({ kind: 'listed' });
    await waitForIdle();
    await waitForIdle();
    expect([allocator.released.length, controller.missingPods]).to.deep.equal([0, 0]);
  });

  it('a member of a StatefulSet loses its address if the StatefulSet is scaled down, before or after the Pod’s deletion', async () => {
    const { pods, statefulSets, allocator } = createThreeMembers();
    pods.drop(beingDeleted(member(2, 'u2')));
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
    statefulSets.put(set(1));
    await until(() => allocator.released.length === 1);
    pods.drop(beingDeleted(member(1, 'u1')));
    await until(() => allocator.released.length === 2);
    expect(allocator.released.map(({ pod, podUid, cause }) => [pod, podUid, cause])).to.deep.equal([
      ['web-2', 'u2', 'RELEASE_CAUSE_SCALED_DOWN'],
      ['web-1', 'u1', 'RELEASE_CAUSE_SCALED_DOWN'],
    ]);
    expect(allocator.released[0]?.evidence).to.equal('StatefulSet web (uid set) has 1 replicas, and so no member 2');
  });

  it('a member of a StatefulSet keeps its address while the Pod lives, although the StatefulSet is scaled down', async () => {
    const { statefulSets, allocator } = createThreeMembers();
    statefulSets.put(set(0));
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
  });

  it('a member of a StatefulSet loses its address if the StatefulSet is deleted, being deleted, or replaced by another of the same name', async () => {
    for (const change of ['deleted', 'deleting', 'other'] as const) {
      const { pods, statefulSets, allocator } = createThreeMembers();
      pods.drop(beingDeleted(member(2, 'u2')));
      await waitForIdle();
      if (change === 'deleted') statefulSets.drop(set(3));
      else statefulSets.put(set(3, change === 'other' ? { uid: 'another' } : { deleting: true }));
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ podUid: 'u2', cause: 'RELEASE_CAUSE_OWNER_DELETED' });
    }
  });

  it('SP-3778 a member of a StatefulSet keeps its address while the watch of StatefulSets lags behind the API', async () => {
    const { pods, statefulSets, apiSets, allocator } = createThreeMembers();
    statefulSets.put(set(1));
    apiSets.set('default/web', set(3));
    pods.drop(beingDeleted(member(2, 'u2')));
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
    apiSets.delete('default/web');
    statefulSets.put(set(2));
    await until(() => allocator.released.length === 1);
  });

  it('a member of a StatefulSet has its last owner: another StatefulSet of the same name, or none', async () => {
    const { pods, statefulSets, allocator } = createThreeMembers();
    statefulSets.put(set(3, { uid: 'another' }));
    const adopted = { ...reference, uid: 'another' };
    pods.put(member(1, 'u1', { metadata: { ownerReferences: [adopted] } }));
    pods.drop(beingDeleted(member(1, 'u1', { metadata: { ownerReferences: [adopted] } })));
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
    pods.drop(beingDeleted(podWithNetwork('web-2', { uid: 'u2' })));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'u2', cause: 'RELEASE_CAUSE_POD_DELETED' });
  });

  it('a member of a StatefulSet does not count as missing while its StatefulSet will create it again', async () => {
    const many = Array.from({ length: 40 }, (_, ordinal) => held(ordinal, `u${ordinal}`));
    const { pods, statefulSets, allocator, controller, alarms } = world({
      allocations: [...many, heldAllocation('a')],
    });
    statefulSets.put(set(40));
    pods.put(podWithNetwork('a'));
    await controller.prepare();
    controller.start();
    pods.drop(beingDeleted(podWithNetwork('a')));
    await until(() => allocator.released.length === 1);
    await waitForIdle();
    expect([allocator.released.length, alarms.length]).to.deep.equal([1, 0]);
  });

  it('SP-2526 a member of a StatefulSet keeps its address while its new Pod cannot be served yet, for any reason', async () => {
    const { pods, networks, allocator } = createThreeMembers();
    allocator.refuse = () => new IpledgerError('UNAVAILABLE', 'connection lost');
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(member(2, 'new'));
    await until(() => allocator.allocated.length > 1);
    networks.drop(macvlan);
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
  });

  it('WB-176 a member of a StatefulSet never loses the allocations of its new Pod when its old Pod is released', async () => {
    const { pods, allocator, sendEvents } = createThreeMembers();
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(member(2, 'new'));
    await until(() => allocator.allocated.length === 1);
    sendEvents(60, allocationEnded(held(2, 'u2')), { kind: 'allocated', allocation: held(2, 'new', { seq: 60 }) });
    await waitForIdle();
    expect(allocator.released.every(({ podUid }) => podUid !== 'new')).to.equal(true);
  });

  it('SP-4295 a member of a StatefulSet keeps what its refused new Pod requests, and loses what that Pod no longer requests', async () => {
    const allocations = [held(0, 'old'), held(0, 'old', { seq: 20, provider: 'storage.default' })];
    const { pods, statefulSets, allocator, controller } = world({ allocations: allocations, longBackoff: true });
    allocator.refuse = () =>
      allocator.released.length === 0 ? new IpledgerError('SUBNET_FULL', 'one of its networks is full') : undefined;
    statefulSets.put(set(1));
    pods.put(member(0, 'new'));
    controller.start();
    await until(() => allocator.released.length === 1);
    await waitForIdle();
    expect(allocator.released).to.have.length(1);
    expect(allocator.released[0]).to.include({ podUid: 'old', allocationSeq: 20 });
  });

  for (const code of ['ADDRESS_OUT_OF_RANGE', 'INVALID_REQUEST', 'IP_FAMILY_INVALID', 'POOL_UNKNOWN'] as const)
    it(`a member of a StatefulSet keeps its address while its template’s request is never granted: ${code}`, async () => {
      const { pods, allocator } = createThreeMembers();
      allocator.refuse = () => new IpledgerError(code, 'never');
      pods.drop(beingDeleted(member(2, 'u2')));
      pods.put(memberNaming('new', '10.9.9.9'));
      await until(() => allocator.allocated.length >= 1);
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
    });

  for (const [code, address] of [
    ['ADDRESS_IN_USE', '10.0.0.99'],
    ['ADDRESS_IN_USE', '10.0.0.2,fd00::2'],
    ['MAC_IN_USE', '10.0.0.99'],
    ['SUBNET_FULL', '10.0.0.99'],
    ['NAMESPACE_QUOTA_EXCEEDED', '10.0.0.99'],
  ] as const)
    it(`a member of a StatefulSet loses its address if another Pod may wait for it and hold ${address}, which its template requests: ${code}`, async () => {
      const { pods, allocator } = createThreeMembers();
      allocator.refuse = () => new IpledgerError(code, 'in use');
      pods.drop(beingDeleted(member(2, 'u2')));
      pods.put(memberNaming('new', address));
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ pod: 'web-2', podUid: 'u2' });
    });

  it('a member of a StatefulSet keeps its address while the annotation of its template is wrong', async () => {
    const { pods, allocator } = createThreeMembers();
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(memberNaming('new', 'no address'));
    await waitForIdle();
    expect([allocator.released, allocator.allocated]).to.deep.equal([[], []]);
  });

  it('a member of a StatefulSet does not keep the address of a deleted StatefulSet of the same name while its request is refused', async () => {
    const { pods, statefulSets, allocator } = createThreeMembers();
    allocator.refuse = () => new IpledgerError('ADDRESS_OUT_OF_RANGE', 'never');
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(memberNaming('new', '10.9.9.9'));
    await until(() => allocator.allocated.length >= 1);
    statefulSets.put(set(3, { uid: 'another' }));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'u2', cause: 'RELEASE_CAUSE_OWNER_DELETED' });
  });

  it('a member of a StatefulSet keeps the address of its newer Pod while the watcher shows an earlier Pod, whose request is superseded', async () => {
    const { pods, allocator, controller, statefulSets } = world({ allocations: [held(2, 'newer')] });
    allocator.refuse = () => new IpledgerError('POD_SUPERSEDED', 'uid newer holds it');
    statefulSets.put(set(3));
    pods.put(memberNaming('u2', '10.0.0.99'));
    controller.start();
    await until(() => allocator.allocated.length >= 1);
    await waitForIdle();
    expect(allocator.released).to.deep.equal([]);
  });

  for (const [how, shown] of [
    ['completed', member(2, 'u2', { status: { phase: 'Failed', reason: 'Evicted' } })],
    ['running, and selects no network', member(2, 'u2', { annotations: { [networksAnnotation]: '' } })],
  ] as const)
    it(`a member of a StatefulSet keeps the address of its newer Pod while the watch shows the earlier Pod, which is ${how}`, async () => {
      const { pods, allocator, controller, statefulSets, api, lookedUp } = world({ allocations: [held(2, 'newer')] });
      statefulSets.put(set(1));
      api.set('default/web-2', member(2, 'newer'));
      pods.put(shown);
      controller.start();
      await until(() => lookedUp.length + allocator.released.length > 0);
      await waitForIdle();
      expect(allocator.released).to.deep.equal([]);
    });

  it('a member of a StatefulSet moves to the Subnet that its changed template names', async () => {
    const annotations = { 'macvlan.default.kubernetes.io/logical_switch': 'other' };
    const { pods, allocator } = createThreeMembers({ subnets: ['macvlan', 'other'] });
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(member(2, 'new', { annotations: { [networksAnnotation]: 'macvlan', ...annotations } }));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.attachments?.[0]?.subnets).to.deep.equal(['other']);
  });
});

/** Members of StatefulSets, and others who come back under their name. */
import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { holding, until } from '../fakes.ts';
import { networksAnnotation, type StatefulSet } from '../kubernetes/objects.ts';
import {
  beingDeleted,
  ended,
  holdingMany,
  macvlan,
  settled,
  unbound,
  wanting,
  worldOf,
  type WorldOptions,
} from './specification.ts';

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
const member = (ordinal: number, uid: string, parts: Parameters<typeof wanting>[1] = {}) =>
  wanting(`web-${ordinal}`, { uid, metadata: { ownerReferences: [reference] }, ...parts });
const held = (ordinal: number, uid: string, parts: Parameters<typeof holding>[1] = {}) =>
  holding(`web-${ordinal}`, { seq: 10 + ordinal, uid, owner, ...parts });

describe('a member of a StatefulSet', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: WorldOptions = {}) => worldOf(stop.signal, options);

  /** Three members, all there and served. */
  function three(options: WorldOptions = {}) {
    const there = world({ holdings: [0, 1, 2].map((ordinal) => held(ordinal, `u${ordinal}`)), ...options });
    there.statefulSets.put(set(3));
    for (const ordinal of [0, 1, 2]) there.pods.put(member(ordinal, `u${ordinal}`));
    there.reconciler.start();
    return there;
  }

  it('WB-621 keeps its address while it is made again, and hands it on by name', async () => {
    const { pods, allocator } = three();
    pods.drop(beingDeleted(member(2, 'u2')));
    await settled();
    expect(allocator.released).to.deep.equal([]);
    pods.put(member(2, 'new'));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod).to.deep.include({ name: 'web-2', uid: 'new', owner });
  });

  it('keeps it when it is evicted, overdue on a lost node, or was deleted while nobody watched', async () => {
    const { pods, allocator, reconciler } = three();
    pods.put(member(0, 'u0', { status: { phase: 'Failed', reason: 'Evicted' } }));
    pods.put({ ...member(1, 'u1'), deletionTimestamp: '2026-01-31T08:00:00Z' });
    pods.drop(member(2, 'u2'), false);
    pods.tell({ kind: 'listed' });
    await settled();
    await settled();
    expect([allocator.released.length, reconciler.vanished]).to.deep.equal([0, 0]);
  });

  it('loses it when the StatefulSet is scaled down, whichever is told first, and says so', async () => {
    const { pods, statefulSets, allocator } = three();
    pods.drop(beingDeleted(member(2, 'u2')));
    await settled();
    expect(allocator.released).to.deep.equal([]);
    statefulSets.put(set(1));
    await until(() => allocator.released.length === 1);
    pods.drop(beingDeleted(member(1, 'u1')));
    await until(() => allocator.released.length === 2);
    expect(allocator.released.map(({ pod, podUid, cause }) => [pod, podUid, cause])).to.deep.equal([
      ['web-2', 'u2', 'RELEASE_CAUSE_SCALED_DOWN'],
      ['web-1', 'u1', 'RELEASE_CAUSE_SCALED_DOWN'],
    ]);
    expect(allocator.released[0]?.evidence).to.equal('StatefulSet web (uid set) wants 1 replicas, and so no member 2');
  });

  it('is not taken from a Pod that still lives when the StatefulSet is scaled down', async () => {
    const { statefulSets, allocator } = three();
    statefulSets.put(set(0));
    await settled();
    expect(allocator.released).to.deep.equal([]);
  });

  it('loses it with its StatefulSet: deleted, being deleted, or another one of its name', async () => {
    for (const change of ['gone', 'deleting', 'other'] as const) {
      const { pods, statefulSets, allocator } = three();
      pods.drop(beingDeleted(member(2, 'u2')));
      await settled();
      if (change === 'gone') statefulSets.drop(set(3));
      else statefulSets.put(set(3, change === 'other' ? { uid: 'another' } : { deleting: true }));
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ podUid: 'u2', cause: 'RELEASE_CAUSE_OWNER_DELETED' });
    }
  });

  it('SP-3778 is not taken for one too many while the watch of StatefulSets lags behind', async () => {
    const { pods, statefulSets, apiSets, allocator } = three();
    statefulSets.put(set(1));
    apiSets.set('default/web', set(3));
    pods.drop(beingDeleted(member(2, 'u2')));
    await settled();
    expect(allocator.released).to.deep.equal([]);
    apiSets.delete('default/web');
    statefulSets.put(set(2));
    await until(() => allocator.released.length === 1);
  });

  it('belongs to whom it belonged last: adopted by another StatefulSet of the name, or by nobody', async () => {
    const { pods, statefulSets, allocator } = three();
    statefulSets.put(set(3, { uid: 'another' }));
    const adopted = { ...reference, uid: 'another' };
    pods.put(member(1, 'u1', { metadata: { ownerReferences: [adopted] } }));
    pods.drop(beingDeleted(member(1, 'u1', { metadata: { ownerReferences: [adopted] } })));
    await settled();
    expect(allocator.released).to.deep.equal([]);
    pods.drop(beingDeleted(wanting('web-2', { uid: 'u2' })));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'u2', cause: 'RELEASE_CAUSE_POD_DELETED' });
  });

  it('whose Pods are away is not missing: nothing is halted on its account', async () => {
    const many = Array.from({ length: 40 }, (_, ordinal) => held(ordinal, `u${ordinal}`));
    const { pods, statefulSets, allocator, reconciler, alarms } = world({ holdings: [...many, holding('a')] });
    statefulSets.put(set(40));
    pods.put(wanting('a'));
    await reconciler.prepare();
    reconciler.start();
    pods.drop(beingDeleted(wanting('a')));
    await until(() => allocator.released.length === 1);
    await settled();
    expect([allocator.released.length, alarms.length]).to.deep.equal([1, 0]);
  });

  it('SP-2526 keeps its address while its new Pod cannot be served yet, for whatever reason', async () => {
    const { pods, networks, allocator } = three();
    allocator.refuse = () => new IpledgerError('UNAVAILABLE', 'gone away');
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(member(2, 'new'));
    await until(() => allocator.allocated.length > 1);
    networks.drop(macvlan);
    await settled();
    expect(allocator.released).to.deep.equal([]);
  });

  it('WB-176 loses, of its old Pod, never what its new one has', async () => {
    const { pods, allocator, facts } = three();
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(member(2, 'new'));
    await until(() => allocator.allocated.length === 1);
    facts(60, ended(held(2, 'u2')), { kind: 'given', holding: held(2, 'new', { seq: 60 }) });
    await settled();
    expect(allocator.released.every(({ podUid }) => podUid !== 'new')).to.equal(true);
  });

  it('SP-4295 keeps, when its new Pod is refused, what that will be given, and gives up what it asks for no longer', async () => {
    const holdings = [held(0, 'old'), held(0, 'old', { seq: 20, provider: 'storage.default' })];
    const { pods, statefulSets, allocator, reconciler } = world({ holdings, patient: true });
    allocator.refuse = () =>
      allocator.released.length === 0 ? new IpledgerError('SUBNET_FULL', 'one of its networks is full') : undefined;
    statefulSets.put(set(1));
    pods.put(member(0, 'new'));
    reconciler.start();
    await until(() => allocator.released.length === 1);
    await settled();
    expect(allocator.released).to.have.length(1);
    expect(allocator.released[0]).to.include({ podUid: 'old', allocationSeq: 20 });
  });

  it('moves to the Subnet that its template names now: the old address goes with the new one’s grant', async () => {
    const annotations = { 'macvlan.default.kubernetes.io/logical_switch': 'other' };
    const { pods, allocator } = three({ subnets: ['macvlan', 'other'] });
    pods.drop(beingDeleted(member(2, 'u2')));
    pods.put(member(2, 'new', { annotations: { [networksAnnotation]: 'macvlan', ...annotations } }));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.attachments?.[0]?.subnets).to.deep.equal(['other']);
  });
});

describe('a Pod that comes back under its name', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  it('takes over what it can, and gives up the rest at once when it asks for nothing', async () => {
    const { pods, allocator, reconciler } = worldOf(stop.signal, { holdings: [holding('a', { uid: 'old' })] });
    pods.put(wanting('a', { uid: 'new', annotations: { [networksAnnotation]: '' } }));
    reconciler.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'old', cause: 'RELEASE_CAUSE_POD_DELETED' });
    expect(allocator.released[0]?.evidence).to.equal('the name belongs to Pod uid new now');
  });

  it('gives up what does not fit as soon as it is refused: two may be waiting for each other’s', async () => {
    const held = [holding('a', { uid: 'old', subnet: 'retired' })];
    const { pods, allocator, reconciler } = worldOf(stop.signal, { holdings: held, patient: true });
    let refusing = true;
    allocator.refuse = () => (refusing ? ((refusing = false), new IpledgerError('SUBNET_FULL', 'full')) : undefined);
    pods.put(wanting('a', { uid: 'new' }));
    reconciler.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'old' });
  });
});

describe('an attachment that a living Pod asks for no longer', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  /** It holds one to macvlan, and one to storage that its annotation names no more. */
  function world(options: WorldOptions = {}) {
    const two = [holding('a'), holding('a', { seq: 8, provider: 'storage.default' })];
    const there = worldOf(stop.signal, { patient: true, ...options, holdings: [...two, ...(options.holdings ?? [])] });
    const [binding] = [{ containerId: 'c', interface: 'net2', node: 'node-1', bootId: 'b', at: '' }];
    const attachment = { namespace: 'default', pod: 'a', provider: 'storage.default', ordinal: 0 };
    there.allocator.bindings = [{ attachment, subnet: 'macvlan', addresses: ['10.0.0.2'], binding, allocationSeq: 8 }];
    const config = macvlan.config.replaceAll('macvlan.default', 'storage.default');
    there.networks.put({ ...macvlan, name: 'storage', config });
    there.pods.put(wanting('a', { spec: { nodeName: 'node-1' } }));
    there.reconciler.start();
    return there;
  }

  it('is released once no container answers on it, and nothing else of the Pod', async () => {
    const { allocator, facts } = world();
    await settled();
    expect(allocator.released).to.deep.equal([]);
    allocator.bindings = [];
    facts(51, unbound(holding('a', { provider: 'storage.default' })));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a', allocationSeq: 8, cause: 'RELEASE_CAUSE_DETACHED' });
    expect(allocator.allocated).to.deep.equal([]);
  });

  it('stays while the API server’s memory is in doubt', async () => {
    const { allocator, reconciler } = world({ holdings: holdingMany(40) });
    allocator.bindings = [];
    await settled();
    expect([reconciler.vanished, allocator.released.length]).to.deep.equal([40, 0]);
  });

  it('asks the ledger again when a container of its own has ended, and for no other Pod’s', async () => {
    const { allocator, facts } = world({ holdings: [holding('b', { seq: 9 })] });
    await settled();
    let listed = 0;
    const { listBindings } = allocator;
    allocator.listBindings = () => ((listed += 1), listBindings.call(allocator));
    facts(51, unbound(holding('b')));
    await settled();
    expect(listed).to.equal(0);
    facts(52, unbound(holding('a', { provider: 'storage.default' })));
    await until(() => listed === 1);
  });

  it('are looked up together: one list of bindings, however many they are', async () => {
    const more = [9, 10, 11].map((seq) => holding('a', { seq, ordinal: seq, provider: 'storage.default' }));
    const { allocator, facts } = world({ holdings: more });
    await settled();
    let listed = 0;
    allocator.listBindings = () => {
      listed += 1;
      return Promise.resolve({ bindings: [], nextPageToken: '' });
    };
    facts(51, unbound(holding('a', { provider: 'storage.default' })));
    await until(() => allocator.released.length >= 4);
    expect(listed).to.equal(1);
  });
});

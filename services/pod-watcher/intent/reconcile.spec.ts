import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import {
  FakeAllocator,
  FakeSource,
  holding,
  inForce,
  podNamed,
  type PodParts,
  silent,
  subnetNamed,
  until,
} from '../fakes.ts';
import type { Happening } from '../kubernetes/events.ts';
import { type NetworkDefinition, networksAnnotation, type Pod, type SubnetObject } from '../kubernetes/objects.ts';
import type { Fact, Holding } from '../ledger/facts.ts';
import { Holdings } from './holdings.ts';
import { Reconciler } from './reconcile.ts';
import { Subnets } from './subnets.ts';

const macvlan: NetworkDefinition = {
  namespace: 'default',
  name: 'macvlan',
  uid: 'uid-nad',
  resourceVersion: '1',
  config: '{"type":"macvlan","ipam":{"type":"kube-ovn","provider":"macvlan.default"}}',
};

describe('the intent loop', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  function world({
    holdings: held = [] as Holding[],
    acceptVanished = false,
    subnets = ['macvlan'],
    patient = false,
    mirrorGraceMs = 3_600_000,
  } = {}) {
    const pods = new FakeSource<Pod>();
    const networks = new FakeSource<NetworkDefinition>();
    const objects = new FakeSource<SubnetObject>();
    const allocator = new FakeAllocator();
    const said: { pod: string; happening: Happening }[] = [];
    /** Pods of which the API says otherwise than the source. */
    const api = new Map<string, Pod>();
    const lookedUp: string[] = [];
    const known = new Subnets(objects.objects);
    const holdings = new Holdings();
    const reconciler = new Reconciler({
      allocator,
      pods,
      networks,
      subnets: known,
      holdings,
      say: (pod, happening) => said.push({ pod: pod.name, happening }),
      lookUp: (key) => {
        lookedUp.push(key);
        return Promise.resolve(api.get(key) ?? pods.objects.get(key));
      },
      acceptVanished,
      // The patient wait for an hour, or for a ring.
      backoffMs: patient ? [3_600_000, 3_600_000] : [20, 100],
      mirrorGraceMs,
      log: silent,
      signal: stop.signal,
    });
    networks.put(macvlan);
    for (const name of subnets) objects.put(subnetNamed(name));
    const snapshot = { seq: 50, holdings: held, subnets: subnets.map((name) => inForce(name)) };
    const readers = [known, holdings, reconciler];
    for (const reader of readers) reader.snapshot(snapshot);
    const facts = (seq: number, ...each: Fact[]): void => {
      for (const reader of readers) reader.facts(each, seq);
    };
    const rewind = (seq: number, ...left: Holding[]): void => {
      for (const reader of readers) reader.snapshot({ ...snapshot, seq, holdings: left });
    };
    return { pods, networks, objects, allocator, said, api, lookedUp, reconciler, facts, rewind };
  }

  const wanting = (name: string, parts: PodParts = {}): Pod =>
    podNamed(name, { ...parts, annotations: { [networksAnnotation]: 'macvlan', ...parts.annotations } });
  const ended = ({ seq, subnet, namespace, pod, uid }: Holding): Fact => ({
    kind: 'ended',
    seq,
    subnet,
    namespace,
    pod,
    uid,
  });
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

  it('allocates for a Pod that wants an attachment, once, also before it is scheduled', async () => {
    const { pods, allocator, reconciler } = world();
    reconciler.start();
    pods.put(wanting('a'));
    await until(() => allocator.allocated.length === 1);
    pods.put(wanting('a', { status: { phase: 'Running' } }));
    await settled();
    expect(allocator.allocated).to.have.length(1);
    expect(allocator.allocated[0]).to.deep.include({
      pod: { namespace: 'default', name: 'a', uid: 'uid-a', node: '', owner: undefined },
    });
    expect(allocator.allocated[0]?.validMs).to.be.greaterThan(0);
  });

  it('leaves alone who holds already, who is on the host network, who is finished and who wants nothing', async () => {
    const { pods, allocator, reconciler } = world({ holdings: [holding('held')] });
    for (const pod of [
      wanting('held'),
      wanting('host', { spec: { hostNetwork: true } }),
      wanting('done', { spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } }),
      podNamed('plain'),
    ])
      pods.put(pod);
    reconciler.start();
    await settled();
    expect(allocator.allocated).to.deep.equal([]);
    expect(allocator.released).to.deep.equal([]);
  });

  it('releases what a deleted Pod held, by its uid, without asking the API again', async () => {
    const { pods, allocator, reconciler, lookedUp } = world({ holdings: [holding('a')] });
    pods.put(wanting('a'));
    reconciler.start();
    pods.drop(wanting('a'));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.deep.include({
      namespace: 'default',
      pod: 'a',
      podUid: 'uid-a',
      cause: 'RELEASE_CAUSE_POD_DELETED',
    });
    expect(lookedUp).to.deep.equal([]);
  });

  it('releases what a finished Pod held at once, and says so', async () => {
    const { pods, allocator, reconciler } = world({ holdings: [holding('a')] });
    pods.put(wanting('a'));
    reconciler.start();
    pods.put(wanting('a', { spec: { restartPolicy: 'Never' }, status: { phase: 'Failed' } }));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ cause: 'RELEASE_CAUSE_POD_COMPLETED', evidence: 'phase Failed' });
    await settled();
    expect(allocator.allocated).to.deep.equal([]);
  });

  it('asks for a Pod of the same name before it releases what the old one left', async () => {
    const { pods, allocator, reconciler } = world({ holdings: [holding('a', { uid: 'old' })] });
    const order: string[] = [];
    const { allocate, release } = allocator;
    allocator.allocate = (request) => (order.push(`allocate ${request.pod?.uid}`), allocate.call(allocator, request));
    allocator.release = (request) => (order.push(`release ${request.podUid}`), release.call(allocator, request));
    pods.put(wanting('a', { uid: 'new' }));
    reconciler.start();
    await until(() => order.length === 2);
    expect(order).to.deep.equal(['allocate new', 'release old']);
  });

  it('knows a static Pod by the hash that its mirror carries', async () => {
    const annotations = { 'kubernetes.io/config.mirror': 'hash', 'kubernetes.io/config.hash': 'hash' };
    const { pods, allocator, reconciler } = world();
    reconciler.start();
    pods.put(wanting('a', { annotations }));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod?.uid).to.equal('hash');
  });

  describe('does not take the deletion of a mirror for the end of its static Pod', () => {
    const annotations = { 'kubernetes.io/config.mirror': 'hash', 'kubernetes.io/config.hash': 'hash' };
    const mirror = wanting('a', { annotations });
    const held = holding('a', { uid: 'hash' });

    it('when it is made again', async () => {
      const { pods, allocator, reconciler } = world({ holdings: [held] });
      pods.put(mirror);
      reconciler.start();
      pods.drop(mirror);
      await settled();
      pods.put({ ...mirror, uid: 'another mirror' });
      await settled();
      expect(allocator.released).to.deep.equal([]);
      expect(allocator.allocated).to.deep.equal([]);
    });

    for (const witnessed of [true, false])
      it(`whatever else makes it look meanwhile, ${witnessed ? 'seen' : 'inferred from a list'}`, async () => {
        const { pods, allocator, reconciler, facts, rewind } = world({ holdings: [held] });
        pods.put(mirror);
        reconciler.start();
        pods.drop(mirror, witnessed);
        pods.tell({ kind: 'listed' });
        await settled();
        rewind(60, held);
        await settled();
        facts(61, { kind: 'given', holding: { ...held, seq: 61, ordinal: 1 } });
        await settled();
        expect(allocator.released).to.deep.equal([]);
      });

    it('for longer than a kubelet takes to make it again', async () => {
      const { pods, allocator, reconciler } = world({ holdings: [held], mirrorGraceMs: 40 });
      pods.put(mirror);
      reconciler.start();
      pods.drop(mirror);
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ podUid: 'hash', evidence: 'not in the Kubernetes API' });
    });
  });

  it('believes of a Pod that was deleted unseen only what the API says of it', async () => {
    const { allocator, reconciler, api } = world({ holdings: [holding('gone'), holding('late', { seq: 8 })] });
    api.set('default/late', wanting('late'));
    reconciler.start();
    await until(() => allocator.released.length === 1);
    await settled();
    expect(allocator.released.map(({ pod, evidence }) => [pod, evidence])).to.deep.equal([
      ['gone', 'not in the Kubernetes API'],
    ]);
  });

  it('releases nothing when most Pods are missing at once, unless told to', async () => {
    const many = Array.from({ length: 20 }, (_, index) => holding(`p${index}`, { seq: index + 1 }));
    const held = world({ holdings: many });
    for (const { pod } of many.slice(0, 9)) held.pods.put(wanting(pod));
    held.reconciler.start();
    await settled();
    expect(held.allocator.released).to.deep.equal([]);
    expect(held.lookedUp).to.deep.equal([]);

    const accepting = world({ holdings: many, acceptVanished: true });
    accepting.reconciler.start();
    await until(() => accepting.allocator.released.length === 20);
  });

  it('judges together what a list implies to be gone, and looks at each when they are few', async () => {
    const many = Array.from({ length: 20 }, (_, index) => holding(`p${index}`, { seq: index + 1 }));
    const { pods, allocator, reconciler, lookedUp } = world({ holdings: many });
    for (const { pod } of many) pods.put(wanting(pod));
    reconciler.start();
    await settled();
    for (const { pod } of many.slice(0, 11)) pods.drop(wanting(pod), false);
    pods.tell({ kind: 'listed' });
    await settled();
    expect(allocator.released).to.deep.equal([]);
    for (const { pod } of many.slice(0, 9)) pods.put(wanting(pod));
    pods.tell({ kind: 'listed' });
    await until(() => allocator.released.length === 2);
    expect(lookedUp).to.have.members(['default/p9', 'default/p10']);
  });

  it('goes on releasing once the missing are back in a list', async () => {
    const many = Array.from({ length: 20 }, (_, index) => holding(`p${index}`, { seq: index + 1 }));
    const { pods, allocator, reconciler } = world({ holdings: many });
    reconciler.start();
    await settled();
    for (const { pod } of many.slice(1)) pods.put(wanting(pod));
    pods.tell({ kind: 'listed' });
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ pod: 'p0' });
  });

  it('says why a Pod waits, and that it waits no more', async () => {
    const { pods, allocator, said, reconciler, facts } = world({ patient: true });
    allocator.refuse = () => new IpledgerError('SUBNET_FULL', 'subnet macvlan has no free address');
    reconciler.start();
    pods.put(wanting('a'));
    await until(() => said.length === 1);
    expect(said[0]).to.deep.equal({
      pod: 'a',
      happening: {
        type: 'Warning',
        reason: 'AcquireAddressFailed',
        message:
          'stage=acquireAddress provider=macvlan.default error=subnet macvlan has no free address; the Pod waits until one is free',
      },
    });
    allocator.refuse = undefined;
    facts(51, ended(holding('other')));
    await until(() => said.length === 2);
    expect(said[1]?.happening).to.include({ type: 'Normal', reason: 'PodNetworkAllocated' });
  });

  it('asks again when a container has ended that may still have answered on the address', async () => {
    const { pods, allocator, reconciler, facts } = world({ patient: true });
    allocator.refuse = () => new IpledgerError('ADDRESS_IN_USE', 'container c may still answer on it');
    reconciler.start();
    pods.put(wanting('a'));
    await until(() => allocator.allocated.length === 1);
    allocator.refuse = undefined;
    facts(51, { kind: 'unbound', subnet: 'macvlan' });
    await until(() => allocator.allocated.length === 2);
  });

  it('keeps a Pod waiting for a network, a Subnet, and their correction', async () => {
    const { pods, networks, objects, allocator, said, reconciler, facts } = world({ subnets: [] });
    networks.drop(macvlan);
    reconciler.start();
    pods.put(wanting('a'));
    await until(() => said.length === 1);
    expect(said[0]?.happening.message).to.contain('there is no NetworkAttachmentDefinition default/macvlan');
    networks.put({ ...macvlan, config: '{' });
    await until(() => said.at(-1)?.happening.message.includes('no valid JSON') === true);
    networks.put(macvlan);
    await until(() => said.at(-1)?.happening.message.includes('is not bound to any subnet') === true);
    expect(allocator.allocated).to.deep.equal([]);
    objects.put(subnetNamed('macvlan'));
    facts(51, { kind: 'configured', subnet: inForce('macvlan') });
    await until(() => allocator.allocated.length === 1);
  });

  it('asks as soon as its network is there', async () => {
    const { pods, networks, allocator, reconciler } = world({ patient: true });
    networks.drop(macvlan);
    reconciler.start();
    pods.put(wanting('a'));
    await settled();
    networks.put(macvlan);
    await until(() => allocator.allocated.length === 1);
  });

  it('says nothing of a Subnet that is applied together with its Pods', async () => {
    const { pods, objects, allocator, said, reconciler, facts } = world({ subnets: [], patient: true });
    reconciler.start();
    pods.put(wanting('a'));
    objects.put(subnetNamed('macvlan'));
    facts(51, { kind: 'configured', subnet: inForce('macvlan') });
    await until(() => allocator.allocated.length === 1);
    expect(said).to.deep.equal([]);
  });

  it('says which attachments are not served here, once, and serves the others', async () => {
    const { pods, networks, allocator, said, reconciler } = world();
    networks.put({ ...macvlan, name: 'empty', config: '' });
    reconciler.start();
    const both = { annotations: { [networksAnnotation]: 'empty,macvlan' } };
    pods.put(wanting('a', both));
    await until(() => allocator.allocated.length === 1);
    pods.put(wanting('a', { ...both, spec: { nodeName: 'n' } }));
    await settled();
    expect(said.map(({ happening }) => happening.reason)).to.deep.equal(['PodNetworkNotServed']);
    expect(said[0]?.happening.message).to.contain('default/empty is not served here');
  });

  it('releases also what it may have been given in an answer that never came', async () => {
    const { pods, allocator, reconciler } = world();
    allocator.refuse = () => new IpledgerError('UNAVAILABLE', 'gone away');
    reconciler.start();
    pods.put(wanting('a'));
    await until(() => allocator.allocated.length === 1);
    allocator.refuse = undefined;
    pods.drop(wanting('a'));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a' });
  });

  it('allocates anew for a living Pod whose address an operator released', async () => {
    const { pods, allocator, reconciler, facts } = world({ holdings: [holding('a')] });
    pods.put(wanting('a'));
    reconciler.start();
    await settled();
    expect(allocator.allocated).to.deep.equal([]);
    facts(51, ended(holding('a')));
    await until(() => allocator.allocated.length === 1);
  });

  it('allocates anew for the living what a rewound ledger has forgotten, and releases what it gives again', async () => {
    const { pods, allocator, reconciler, rewind, facts } = world({
      holdings: [holding('a'), holding('b', { seq: 8 })],
    });
    for (const name of ['a', 'b']) pods.put(wanting(name));
    reconciler.start();
    await settled();
    rewind(20, holding('b', { seq: 8 }));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod?.name).to.equal('a');
    facts(21, { kind: 'given', holding: holding('a', { seq: 21 }) });
    pods.drop(wanting('a'));
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a' });
  });

  it('releases what the ledger gives to a Pod that is gone already', async () => {
    const { allocator, reconciler, facts } = world();
    reconciler.start();
    facts(51, { kind: 'given', holding: holding('ghost', { seq: 51 }) });
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-ghost' });
  });
});

import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { holding, inForce, podNamed, subnetNamed, until } from '../fakes.ts';
import { networksAnnotation } from '../kubernetes/objects.ts';
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

describe('the intent loop', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: WorldOptions = {}) => worldOf(stop.signal, options);

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
    pods.drop(beingDeleted(wanting('a')));
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

  describe('never allocates again for a Pod that it took for ended', () => {
    const dying = (deletionTimestamp: string, deletionGracePeriodSeconds: number, spec?: object) =>
      wanting('a', { ...(spec && { spec }), metadata: { deletionTimestamp, deletionGracePeriodSeconds } });
    const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

    for (const [when, first, later] of [
      ['its kubelet deletes it at last', () => dying('2026-01-31T08:00:30Z', 30), () => dying(inAnHour(), 0)],
      ['its object says that it has time again', () => dying('2026-01-31T08:00:30Z', 30), () => dying(inAnHour(), 30)],
      [
        'its phase is Running again',
        () => wanting('a', { spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } }),
        () => wanting('a', { spec: { restartPolicy: 'Never' }, status: { phase: 'Running' } }),
      ],
    ] as const)
      it(`when ${when}`, async () => {
        const held = holding('a');
        const { pods, allocator, reconciler, facts } = world({ holdings: [held] });
        pods.put(first());
        reconciler.start();
        await until(() => allocator.released.length === 1);
        facts(101, ended(held));
        pods.put(later());
        await settled();
        expect(allocator.allocated).to.deep.equal([]);
      });
  });

  it('allocates nothing for a Pod that is being deleted and holds nothing: no sandbox of it is made any more', async () => {
    const { pods, allocator, reconciler } = world();
    const metadata = { deletionTimestamp: new Date(Date.now() + 3_600_000).toISOString() };
    pods.put(wanting('going', { metadata }));
    pods.put(wanting('living'));
    reconciler.start();
    await until(() => allocator.allocated.length > 0);
    await settled();
    expect(allocator.allocated.map(({ pod }) => pod?.name)).to.deep.equal(['living']);
  });

  it('KO-1026 asks for a Pod of the same name before it releases what the old one left', async () => {
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
    const annotations = {
      'kubernetes.io/config.mirror': 'd41d8cd98f00b204e9800998ecf8427e',
      'kubernetes.io/config.hash': 'd41d8cd98f00b204e9800998ecf8427e',
    };
    const { pods, allocator, reconciler } = world();
    reconciler.start();
    pods.put(wanting('a', { annotations }));
    await until(() => allocator.allocated.length === 1);
    expect(allocator.allocated[0]?.pod?.uid).to.equal('d41d8cd98f00b204e9800998ecf8427e');
  });

  for (const order of ['before', 'after'] as const)
    it(`asks again for what a release left (a fenced address stays), be the end of the rest told ${order} its answer`, async () => {
      const held = [holding('a', { seq: 7 }), holding('a', { seq: 8, provider: 'storage.default' })] as const;
      const { allocator, reconciler, facts } = world({ holdings: held });
      const tell = (): void => facts(100, ended(held[1]));
      if (order === 'before') allocator.refuse = () => void (allocator.released.length === 1 && tell());
      reconciler.start();
      await until(() => allocator.released.length > 0);
      if (order === 'after') tell();
      await until(() => allocator.released.length > 1);
      expect(allocator.released[1]).to.include({ podUid: 'uid-a' });
    });

  it('asks once, however long the ledger takes to tell of the end', async () => {
    const { allocator, reconciler, facts, holdings } = world({ holdings: [holding('a')] });
    reconciler.start();
    await until(() => allocator.released.length === 1);
    await settled();
    facts(60, unbound(holding('a')));
    await settled();
    facts(100, ended(holding('a')));
    expect(allocator.released).to.have.length(1);
    expect(holdings.count).to.equal(0);
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
    facts(51, unbound(holding('other')));
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
    expect(said[0]?.happening.message).to.contain('default/empty is not served');
  });

  it('says once that the CNI result will not show a static MAC, and serves the Pod', async () => {
    const { pods, allocator, said, reconciler } = world();
    reconciler.start();
    const asking = { annotations: { [networksAnnotation]: '[{"name":"macvlan","mac":"02:00:00:00:00:01"}]' } };
    pods.put(wanting('a', asking));
    await until(() => allocator.allocated.length === 1);
    pods.put(wanting('a', { ...asking, spec: { nodeName: 'n' } }));
    await settled();
    expect(said.map(({ happening }) => [happening.type, happening.reason])).to.deep.equal([
      ['Warning', 'PodNetworkMacNotInResult'],
    ]);
  });

  it('releases also what it may have been given in an answer that never came', async () => {
    const { pods, allocator, reconciler } = world();
    allocator.refuse = () => new IpledgerError('UNAVAILABLE', 'gone away');
    reconciler.start();
    pods.put(wanting('a'));
    await until(() => allocator.allocated.length === 1);
    allocator.refuse = undefined;
    pods.drop(beingDeleted(wanting('a')));
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
    pods.drop(beingDeleted(wanting('a')));
    await until(() => allocator.released.length > 0);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a' });
  });

  it('releases what the ledger gives to a Pod that is gone already', async () => {
    const { allocator, reconciler, facts } = world();
    reconciler.start();
    facts(51, { kind: 'given', holding: holding('ghost', { seq: 51 }) });
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ podUid: 'uid-ghost' });
  });

  it('converges on 5,000 Pods that were completed while nobody watched, with one command for each that held something', async () => {
    const completed = { spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } };
    const held = holdingMany(5_000);
    const { pods, allocator, reconciler, holdings, lookedUp, facts, rewind } = world({ holdings: held });
    for (const { pod } of held) pods.put(wanting(pod, completed));
    // As many again were made and completed in the meantime: they never held anything.
    for (const { pod } of held) pods.put(wanting(`late-${pod}`, completed));
    reconciler.start();
    await until(() => allocator.released.length >= held.length);
    let seq = 10_000;
    for (const each of held) facts(++seq, ended(each));
    pods.tell({ kind: 'listed' });
    rewind(seq);
    await settled();
    expect(new Set(allocator.released.map(({ pod }) => pod)).size).to.equal(held.length);
    expect(allocator.released).to.have.length(held.length);
    expect([allocator.allocated.length, lookedUp.length, holdings.count]).to.deep.equal([0, 0, 0]);
  });
});

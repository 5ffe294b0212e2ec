/** What nobody saw go is found by comparison, and collected only once the API has confirmed it. */
import { expect } from 'chai';
import { holding, until } from '../fakes.ts';
import { networksAnnotation, type StatefulSet } from '../kubernetes/objects.ts';
import { beingDeleted, holdingMany, macvlan, settled, wanting, worldOf, type WorldOptions } from './specification.ts';

describe('garbage', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: WorldOptions = {}) => worldOf(stop.signal, options);

  it('WB-546 is what a Pod left that was deleted while nobody watched; the event says how that is known', async () => {
    const { allocator, reconciler, lookedUp } = world({ holdings: [holding('a')], confirmMs: 30 });
    reconciler.start();
    await until(() => allocator.released.length === 1);
    expect(lookedUp).to.deep.equal(['default/a']);
    expect(allocator.released[0]).to.include({ podUid: 'uid-a', cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED' });
    const { evidence = '' } = allocator.released[0] ?? {};
    const [, missed = '', lookedUpAt = ''] = /missed since (.+Z), looked up at (.+Z)$/.exec(evidence) ?? [];
    expect(Date.parse(lookedUpAt)).to.be.greaterThanOrEqual(Date.parse(missed) + 29);
  });

  it('is looked for now and then, though nothing happened', async () => {
    const { allocator, reconciler, holdings } = world({ garbageEveryMs: 20 });
    reconciler.start();
    // As if it had been overlooked: nothing rings for it.
    holdings.facts([{ kind: 'given', holding: holding('leaked', { seq: 60 }) }], 60);
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ pod: 'leaked', cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED' });
  });

  it('is looked for never, when told so', async () => {
    const { allocator, reconciler, holdings } = world({ garbageEveryMs: 0 });
    reconciler.start();
    holdings.facts([{ kind: 'given', holding: holding('leaked', { seq: 60 }) }], 60);
    await settled();
    expect(allocator.released).to.deep.equal([]);
  });

  it('says who has the name instead, where the API knows before the watch tells', async () => {
    const { api, allocator, reconciler } = world({ holdings: [holding('a', { uid: 'old' })] });
    api.set('default/a', wanting('a', { uid: 'new' }));
    reconciler.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]?.evidence).to.match(/Z, where the name belongs to Pod uid new$/);
  });

  it('names the StatefulSet that is gone with its member', async () => {
    const owner = { kind: 'StatefulSet', name: 'web', uid: 'set' };
    const { allocator, reconciler } = world({ holdings: [holding('web-0', { owner })] });
    reconciler.start();
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED' });
    expect(allocator.released[0]?.evidence).to.match(
      /^there is no StatefulSet web \(uid set\); not in the Kubernetes API/,
    );
  });

  it('is not what a member holds that its StatefulSet will have again', async () => {
    const owner = { kind: 'StatefulSet', name: 'web', uid: 'set' };
    const { statefulSets, allocator, reconciler } = world({
      holdings: [holding('web-0', { owner })],
      garbageEveryMs: 10,
    });
    const web: StatefulSet = {
      namespace: 'default',
      name: 'web',
      uid: 'set',
      resourceVersion: '1',
      deleting: false,
      replicas: 1,
      firstOrdinal: 0,
    };
    statefulSets.put(web);
    reconciler.start();
    await settled();
    await settled();
    expect(allocator.released).to.deep.equal([]);
  });

  describe('is never what a Pod holds that lives', () => {
    const scanning = { garbageEveryMs: 5 } as const;

    it('WB-162 and is only being made: the API knows it, the watch has not told yet', async () => {
      const { api, allocator, reconciler } = world({ holdings: [holding('a')], ...scanning });
      api.set('default/a', wanting('a'));
      reconciler.start();
      await settled();
      await settled();
      expect(allocator.released).to.deep.equal([]);
    });

    it('CA-5044 whatever its status shows of its addresses', async () => {
      const held = [holding('a'), holding('a', { seq: 8, provider: 'storage.default' })];
      const { pods, allocator, reconciler } = world({ holdings: held, ...scanning });
      const annotations = { [networksAnnotation]: 'macvlan,storage' };
      pods.put(wanting('a', { annotations, status: { phase: 'Running', podIPs: [{ ip: '192.0.2.1' }] } }));
      reconciler.start();
      await settled();
      await settled();
      expect(allocator.released).to.deep.equal([]);
    });

    it('KO-6943 whose NetworkAttachmentDefinition or Subnet is gone; and once it is deleted, all is released', async () => {
      const { pods, networks, objects, allocator, reconciler, facts } = world({
        holdings: [holding('a')],
        ...scanning,
      });
      pods.put(wanting('a'));
      reconciler.start();
      networks.drop(macvlan);
      const [subnet] = objects.objects.values();
      if (subnet) objects.drop(subnet);
      facts(51, { kind: 'retired', subnet: 'macvlan' });
      await settled();
      await settled();
      expect(allocator.released).to.deep.equal([]);
      pods.drop(beingDeleted(wanting('a')));
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ podUid: 'uid-a', cause: 'RELEASE_CAUSE_POD_DELETED' });
    });

    it('CA-13858 after a restart, when it is another Pod’s turn to be missing', async () => {
      const { pods, allocator, reconciler } = world({ holdings: holdingMany(3), ...scanning });
      for (const name of ['p0', 'p2']) pods.put(wanting(name));
      reconciler.start();
      await until(() => allocator.released.length === 1);
      await settled();
      expect(new Set(allocator.released.map(({ pod }) => pod))).to.deep.equal(new Set(['p1']));
    });
  });

  it('is not collected while most Pods are missing', async () => {
    const { allocator, reconciler, alarms } = world({ holdings: holdingMany(25), garbageEveryMs: 5 });
    reconciler.start();
    await settled();
    await settled();
    expect([allocator.released.length, new Set(alarms).size]).to.deep.equal([0, 1]);
  });
});

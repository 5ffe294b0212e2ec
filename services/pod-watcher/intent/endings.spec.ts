import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { holding, until } from '../fakes.ts';
import { beingDeleted, ended, holdingMany, settled, wanting, worldOf, type WorldOptions } from './specification.ts';

describe('who is gone', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());
  const world = (options: WorldOptions = {}) => worldOf(stop.signal, options);

  describe('does not take the deletion of a mirror for the end of its static Pod', () => {
    const annotations = {
      'kubernetes.io/config.mirror': 'd41d8cd98f00b204e9800998ecf8427e',
      'kubernetes.io/config.hash': 'd41d8cd98f00b204e9800998ecf8427e',
    };
    const mirror = wanting('a', { annotations });
    const held = holding('a', { uid: 'd41d8cd98f00b204e9800998ecf8427e' });

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
      expect(allocator.released[0]).to.include({
        podUid: 'd41d8cd98f00b204e9800998ecf8427e',
        cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED',
      });
    });
  });

  it('believes of a Pod that was deleted unseen only what the API says of it', async () => {
    const { allocator, reconciler, api } = world({ holdings: [holding('gone'), holding('late', { seq: 8 })] });
    api.set('default/late', wanting('late'));
    reconciler.start();
    await until(() => allocator.released.length === 1);
    await settled();
    expect(allocator.released.map(({ pod, cause }) => [pod, cause])).to.deep.equal([
      ['gone', 'RELEASE_CAUSE_GARBAGE_COLLECTED'],
    ]);
    expect(allocator.released[0]?.evidence).to.match(/^not in the Kubernetes API: missed since .*Z, looked up at .*Z$/);
  });

  it('releases nothing when most Pods are missing at once, unless told to', async () => {
    const many = holdingMany(20);
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
    const many = holdingMany(20);
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
    const many = holdingMany(20);
    const { pods, allocator, reconciler } = world({ holdings: many });
    reconciler.start();
    await settled();
    for (const { pod } of many.slice(1)) pods.put(wanting(pod));
    pods.tell({ kind: 'listed' });
    await until(() => allocator.released.length === 1);
    expect(allocator.released[0]).to.include({ pod: 'p0' });
  });

  describe('while most Pods are missing', () => {
    const many = holdingMany(20);
    /** All of them live, then most are missing from a list. */
    async function halted(options: WorldOptions = {}) {
      const scene = world({ holdings: many, ...options });
      for (const { pod } of many) scene.pods.put(wanting(pod));
      scene.reconciler.start();
      await settled();
      for (const { pod } of many.slice(0, 15)) scene.pods.drop(wanting(pod), false);
      scene.pods.tell({ kind: 'listed' });
      await settled();
      return scene;
    }

    it('raises an alarm that says what to do, and says how many they are for who comes next', async () => {
      const { alarms, reconciler } = await halted();
      expect(alarms[0]).to.equal(
        '15 of 20 Pods that hold addresses are missing from the Kubernetes API all at once (default/p0, default/p1, default/p2, …); nothing is released. ' +
          'If the API server lost its data, bring it back; if the Pods are really gone, restart this watcher once with --accept-vanished',
      );
      expect(reconciler.vanished).to.equal(15);
    });

    it('releases nothing at all, and goes on allocating', async () => {
      const { pods, allocator } = await halted();
      pods.drop(beingDeleted(wanting('p16')));
      pods.put(wanting('p17', { spec: { restartPolicy: 'Never' }, status: { phase: 'Succeeded' } }));
      pods.put(wanting('new'));
      await until(() => allocator.allocated.length === 1);
      await settled();
      expect(allocator.released).to.deep.equal([]);
    });

    it('is not talked out of it by the Pods that controllers make in place of the missing', async () => {
      const { pods, allocator, facts } = await halted();
      for (let index = 0; index < 30; index++) {
        pods.put(wanting(`new${index}`));
        facts(100 + index, { kind: 'given', holding: holding(`new${index}`, { seq: 100 + index }) });
      }
      pods.tell({ kind: 'listed' });
      await settled();
      expect(allocator.released).to.deep.equal([]);
    });

    it('nor by a restart', async () => {
      const more = Array.from({ length: 30 }, (_, index) => holding(`new${index}`, { seq: 100 + index }));
      const { pods, allocator, reconciler, alarms } = world({ holdings: [...many, ...more], vanishedBefore: 15 });
      for (const { pod } of [...many.slice(15), ...more]) pods.put(wanting(pod));
      await reconciler.prepare();
      reconciler.start();
      await settled();
      expect([allocator.released.length, alarms.length]).to.deep.equal([0, 1]);
    });

    it('goes on by itself when half of them are back, and releases the rest and what has ended meanwhile', async () => {
      const { pods, allocator, alarms, reconciler } = await halted();
      pods.drop(beingDeleted(wanting('p16')));
      for (const { pod } of many.slice(0, 9)) pods.put(wanting(pod));
      pods.tell({ kind: 'listed' });
      await until(() => allocator.released.length === 7);
      expect(allocator.released.map(({ pod }) => pod)).to.have.members([
        'p9',
        'p10',
        'p11',
        'p12',
        'p13',
        'p14',
        'p16',
      ]);
      expect([alarms.at(-1), reconciler.vanished]).to.deep.equal([undefined, 0]);
    });
  });

  it('misses Pods also where one before them under their name was deleted', async () => {
    const { pods, allocator, holdings, reconciler, facts } = world({ holdings: holdingMany(20) });
    const former = holdingMany(20).map(({ pod }) => wanting(pod));
    const again = former.map(({ name }) => wanting(name, { uid: `uid-${name}-again` }));
    for (const pod of former) pods.put(pod);
    reconciler.start();
    await settled();
    // While no allocator answers, both are under the name.
    allocator.refuse = () => new IpledgerError('UNAVAILABLE', 'away');
    for (const pod of former) pods.drop(beingDeleted(pod));
    for (const pod of again) pods.put(pod);
    await settled();
    allocator.refuse = undefined;
    facts(60, ...holdingMany(20).map(ended));
    await until(() => again.every(({ name, uid }) => holdings.uids(`default/${name}`).join() === uid));
    await settled();
    const released = allocator.released.length;
    for (const pod of again) pods.drop(pod, false);
    pods.tell({ kind: 'listed' });
    await settled();
    expect([reconciler.vanished, allocator.released.length]).to.deep.equal([20, released]);
  });

  describe('of those that a watch tells to be gone', () => {
    it('waits for one that was never marked as being deleted: more may vanish', async () => {
      const { pods, allocator, reconciler } = world({ holdings: holdingMany(20), vanishedGraceMs: 1_200 });
      for (const { pod } of holdingMany(20)) pods.put(wanting(pod));
      reconciler.start();
      await settled();
      for (const { pod } of holdingMany(15)) {
        pods.drop(wanting(pod));
        await settled();
      }
      await until(() => reconciler.vanished === 15);
      await settled();
      expect(allocator.released).to.deep.equal([]);
    });

    it('releases one that vanished alone, once the API says that it is not there', async () => {
      const { pods, allocator, reconciler, lookedUp } = world({ holdings: holdingMany(20), vanishedGraceMs: 40 });
      for (const { pod } of holdingMany(20)) pods.put(wanting(pod));
      reconciler.start();
      await settled();
      pods.drop(wanting('p3'));
      await until(() => allocator.released.length === 1);
      expect(allocator.released[0]).to.include({ pod: 'p3', cause: 'RELEASE_CAUSE_GARBAGE_COLLECTED' });
      expect(lookedUp).to.deep.equal(['default/p3']);
    });

    it('releases any number that were deleted, as with their namespace', async () => {
      const { pods, allocator, reconciler, alarms } = world({ holdings: holdingMany(200) });
      for (const { pod } of holdingMany(200)) pods.put(wanting(pod));
      reconciler.start();
      await settled();
      for (const { pod } of holdingMany(190)) pods.drop(beingDeleted(wanting(pod)));
      await until(() => allocator.released.length === 190);
      expect(alarms).to.deep.equal([]);
    });
  });

  describe('after a time without a watcher in which most Pods went', () => {
    const many = holdingMany(20);
    async function* remembered(...pods: ReturnType<typeof wanting>[]) {
      yield* await Promise.resolve(pods);
    }

    it('asks the API what it deleted, and releases that', async () => {
      const gone = many.slice(0, 15).map(({ pod }) => beingDeleted(wanting(pod)));
      const { pods, allocator, reconciler, alarms } = world({ holdings: many, recall: () => remembered(...gone) });
      for (const { pod } of many.slice(15)) pods.put(wanting(pod));
      await reconciler.prepare();
      reconciler.start();
      await until(() => allocator.released.length === 15);
      expect(alarms).to.deep.equal([]);
    });

    it('releases nothing of what the API lost without deleting it', async () => {
      const lost = many.slice(0, 15).map(({ pod }) => wanting(pod));
      const { pods, allocator, reconciler, alarms } = world({ holdings: many, recall: () => remembered(...lost) });
      for (const { pod } of many.slice(15)) pods.put(wanting(pod));
      await reconciler.prepare();
      reconciler.start();
      await settled();
      expect([allocator.released.length, alarms.length]).to.deep.equal([0, 1]);
    });

    it('releases nothing when the API does not remember so far', async () => {
      const forgotten = async function* () {
        yield beingDeleted(wanting('p0'));
        await Promise.reject(new Error('410 Expired'));
      };
      const { pods, allocator, reconciler, alarms } = world({ holdings: many, recall: forgotten });
      for (const { pod } of many.slice(15)) pods.put(wanting(pod));
      await reconciler.prepare();
      reconciler.start();
      await settled();
      expect([allocator.released.length, alarms.length]).to.deep.equal([0, 1]);
    });

    it('asks nothing when few are missing', async () => {
      let asked = false;
      const recall = () => ((asked = true), remembered());
      const { pods, allocator, reconciler } = world({ holdings: many, recall });
      for (const { pod } of many.slice(2)) pods.put(wanting(pod));
      await reconciler.prepare();
      reconciler.start();
      await until(() => allocator.released.length === 2);
      expect(asked).to.equal(false);
    });
  });

  it('waits for the mirror of a static Pod that was not there when the watcher started', async () => {
    const hash = 'd41d8cd98f00b204e9800998ecf8427e';
    const annotations = { 'kubernetes.io/config.mirror': hash, 'kubernetes.io/config.hash': hash };
    const held = [holding('static', { uid: hash }), holding('other', { seq: 8 })];
    const { pods, allocator, reconciler } = world({ holdings: held });
    reconciler.start();
    await until(() => allocator.released.length === 1);
    pods.put(wanting('static', { annotations }));
    await settled();
    expect(allocator.released.map(({ pod }) => pod)).to.deep.equal(['other']);

    const impatient = world({ holdings: held, mirrorGraceMs: 40 });
    impatient.reconciler.start();
    await until(() => impatient.allocator.released.length === 2);
  });
});

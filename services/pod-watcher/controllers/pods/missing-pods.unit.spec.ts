import { expect } from 'chai';
import { networksAnnotation, type Pod } from '../../kubernetes/objects/pod.ts';
import { podKeyOf, type HeldAllocation } from '../../ledger/ledger-events.ts';
import { heldAllocation, until } from '../../testing/fakes.ts';
import { MissingPods } from './missing-pods.ts';
import {
  beingDeleted,
  createPodControllerWorld,
  manyAllocations,
  podWithNetwork,
  type PodControllerWorldOptions,
  waitForIdle,
} from './testing/pod-controller-world.ts';

/** Makes allocations of Pods "p0", "p1", … in a namespace. */
const allocationsIn = (namespace: string, count: number, firstSeq: number): HeldAllocation[] =>
  Array.from({ length: count }, (_, index) => heldAllocation(`p${index}`, { namespace, seq: firstSeq + index }));

const podIn = (namespace: string, name: string): Pod => ({
  ...podWithNetwork(name, { annotations: { [networksAnnotation]: 'default/macvlan' } }),
  namespace,
});
const podsOf = (allocations: readonly HeldAllocation[]): Pod[] =>
  allocations.map(({ namespace, pod }) => podIn(namespace, pod));

type World = ReturnType<typeof createPodControllerWorld>;

describe('missing Pods of several namespaces', () => {
  let stop: AbortController;
  beforeEach(() => (stop = new AbortController()));
  afterEach(() => stop.abort());

  const [noisy, quiet, large] = [
    allocationsIn('noisy', 30, 1),
    allocationsIn('quiet', 5, 101),
    allocationsIn('large', 100, 201),
  ];

  /** Makes a world in which all Pods except those of machines exist, and are reconciled. */
  async function createWorld(
    allocations: readonly HeldAllocation[],
    { prepare, ...options }: PodControllerWorldOptions & { readonly prepare?: (world: World) => void } = {},
  ) {
    const world = createPodControllerWorld(stop.signal, { allocations, ...options });
    prepare?.(world);
    for (const pod of podsOf(allocations.filter(({ owner }) => !owner))) world.pods.put(pod);
    world.controller.start();
    await waitForIdle();
    /** Removes Pods without an event: the next list does not have them. */
    const lose = (lost: readonly HeldAllocation[]): void => {
      for (const pod of podsOf(lost)) world.pods.drop(pod, false);
      world.pods.notify({ kind: 'listed' });
    };
    const releasedIn = (namespace: string) => world.allocator.released.filter((each) => each.namespace === namespace);
    return { ...world, lose, releasedIn };
  }

  for (const [what, others] of [
    ['most holders of the cluster', quiet],
    ['a minority', large],
  ] as const)
    it(`missing Pods halt only their own namespace if they are ${what}`, async () => {
      const { pods, alarms, lose, releasedIn, controller } = await createWorld([...noisy, ...others]);
      lose(noisy);
      await until(() => alarms.length > 0);
      const [other] = podsOf(others) as [Pod];
      pods.drop(beingDeleted(other));
      await until(() => releasedIn(other.namespace).length > 0);
      expect([releasedIn('noisy'), controller.missingPods]).to.deep.equal([[], 30]);
      expect(alarms[0]).to.contain('nothing is released in namespace noisy.');
    });

  it('missing Pods halt each namespace that misses Pods when most of the cluster are missing', async () => {
    const { alarms, lose, releasedIn, lookedUp } = await createWorld([...noisy, ...large.slice(0, 10), ...quiet]);
    lose([...noisy, ...large.slice(0, 2)]);
    await until(() => alarms.length > 0);
    await waitForIdle();
    expect(alarms[0]).to.match(/^32 of 45 Pods that hold .* nothing is released in namespace large, noisy\. /);
    expect([releasedIn('noisy'), releasedIn('large'), lookedUp]).to.deep.equal([[], [], []]);
  });

  it('missing Pods of five namespaces are reported with the first three of these namespaces', async () => {
    const all = ['n1', 'n2', 'n3', 'n4', 'n5'].flatMap((name, index) => allocationsIn(name, 20, 1 + index * 20));
    const { alarms, lose } = await createWorld(all);
    lose(all);
    await until(() => alarms.length > 0);
    expect(alarms[0]).to.contain('nothing is released in namespace n1, n2, n3 and 2 more. If the API server');
  });

  it('missing Pods of three namespaces are reported with these namespaces', async () => {
    const all = ['n1', 'n2', 'n3'].flatMap((name, index) => allocationsIn(name, 20, 1 + index * 20));
    const { alarms, lose } = await createWorld(all);
    lose(all);
    await until(() => alarms.length > 0);
    expect(alarms[0]).to.contain('nothing is released in namespace n1, n2, n3. If the API server');
  });

  it('missing Pods need no list of the deletions if stopped machines explain them, and no more of it than explains them', async () => {
    let read = 0;
    const listDeleted = async function* () {
      for (const pod of podsOf([...noisy, ...large])) {
        read += 1;
        yield await Promise.resolve(beingDeleted(pod));
      }
    };
    const owner = { kind: 'VirtualMachineInstance', name: 'vm', uid: 'uid-vm' };
    const vms = noisy.map((held) => ({ ...held, owner }));
    const prepare = ({ machines }: World): void => {
      for (const key of vms.map(podKeyOf)) machines.set(key, { VirtualMachine: { uid: 'u', deleting: false } });
    };
    const stopped = await createWorld([...vms, ...quiet], { listDeleted, prepare });
    await waitForIdle();
    expect([read, stopped.alarms]).to.deep.equal([0, []]);
    const { alarms, lose, releasedIn } = await createWorld([...noisy, ...quiet], { listDeleted });
    lose(noisy);
    await until(() => new Set(releasedIn('noisy').map(({ pod }) => pod)).size === 30);
    expect([read, alarms]).to.deep.equal([30, []]);
  });

  it('when most of the cluster are missing, the allocations of a name whose Pod may be outdated are kept', async () => {
    const { pods, alarms, lose, releasedIn } = await createWorld([...noisy, ...quiet]);
    pods.drop(podIn('quiet', 'p0'), false);
    pods.put({ ...podIn('quiet', 'p0'), uid: 'an older one', ledgerUid: 'an older one', annotations: {} });
    lose(noisy);
    await until(() => alarms.length > 0);
    pods.notify({ kind: 'listed' });
    await waitForIdle();
    expect(releasedIn('quiet')).to.deep.equal([]);
  });

  it('missing Pods are released without an alarm when the API server lists them as deleted, also while the watcher runs', async () => {
    let lists = 0;
    const listDeleted = async function* () {
      lists += 1;
      yield* await Promise.resolve(podsOf(noisy).map(beingDeleted));
    };
    const { alarms, lose, releasedIn } = await createWorld([...noisy, ...quiet], { listDeleted });
    expect(lists).to.equal(0);
    lose(noisy);
    await until(() => new Set(releasedIn('noisy').map(({ pod }) => pod)).size === 30);
    expect([lists, alarms]).to.deep.equal([1, []]);
  });

  it('missing Pods are explained by deletions and by stopped machines, also if the look-up of one machine fails', async () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm', uid: 'uid-vm' };
    const vms = [1, 2].map((n) => heldAllocation(`vm${n}`, { namespace: 'noisy', seq: 400 + n, owner }));
    const listDeleted = async function* () {
      yield* await Promise.resolve(podsOf(noisy).map(beingDeleted));
    };
    const prepare = ({ failingMachines, machines }: World): void => {
      failingMachines.add('noisy/vm1');
      machines.set('noisy/vm2', { VirtualMachine: { uid: 'uid-of-machine', deleting: false } });
    };
    const { alarms, lose, releasedIn } = await createWorld([...noisy, ...vms, ...quiet], { listDeleted, prepare });
    lose(noisy);
    await until(() => new Set(releasedIn('noisy').map(({ pod }) => pod)).size === 30);
    expect(alarms).to.deep.equal([]);
  });

  it('missing Pods of a namespace that becomes suspect while another is explained are explained afterwards', async () => {
    const first = Promise.withResolvers<Pod[]>();
    let lists = 0;
    const listDeleted = async function* () {
      lists += 1;
      yield* lists === 1 ? await first.promise : podsOf([...noisy, ...large]).map(beingDeleted);
    };
    const { alarms, lose, releasedIn } = await createWorld([...noisy, ...large, ...quiet], { listDeleted });
    lose(noisy);
    await until(() => lists === 1);
    lose([...noisy, ...large]);
    first.resolve(podsOf(noisy).map(beingDeleted));
    await until(() => new Set(releasedIn('large').map(({ pod }) => pod)).size === 100);
    expect([lists, alarms]).to.deep.equal([2, []]);
  });

  it('missing Pods are halted without an alarm until the API server has answered, and with an alarm if it deleted none', async () => {
    const answer = Promise.withResolvers<Pod[]>();
    const listDeleted = async function* () {
      yield* await answer.promise;
    };
    const { alarms, lose, releasedIn } = await createWorld([...noisy, ...quiet], { listDeleted });
    lose(noisy);
    await waitForIdle();
    expect([releasedIn('noisy'), alarms]).to.deep.equal([[], []]);
    answer.resolve([]);
    await until(() => alarms.length > 0);
    expect(releasedIn('noisy')).to.deep.equal([]);
  });

  it('missing Pods of one namespace are released when an operator accepts them, and those of another are kept', async () => {
    const { alarms, lose, releasedIn, controller } = await createWorld([...noisy, ...large, ...quiet]);
    lose([...noisy, ...large]);
    await until(() => alarms.length > 0);
    controller.acceptMassDeletion({ noisy: 30 }, 'the tenant left');
    await until(() => new Set(releasedIn('noisy').map(({ pod }) => pod)).size === 30);
    expect([releasedIn('large'), controller.halted['large']]).to.deep.equal([[], 100]);
  });

  it('missing Pods of two namespaces are released when an operator accepts one after the other, each for its reason', async () => {
    const { alarms, lose, releasedIn, controller } = await createWorld([...noisy, ...large, ...quiet], {
      confirmDelayMs: 200,
    });
    lose([...noisy, ...large]);
    await until(() => alarms.length > 0);
    controller.acceptMassDeletion({ noisy: 30 }, 'the tenant left');
    controller.acceptMassDeletion({ large: 100, '*': 130 }, 'moved away');
    await until(() => new Set(releasedIn('noisy').map(({ pod }) => pod)).size === 30);
    await until(() => new Set(releasedIn('large').map(({ pod }) => pod)).size === 100);
    expect(releasedIn('noisy').every(({ evidence }) => evidence?.endsWith(': the tenant left'))).to.equal(true);
    expect(releasedIn('large').every(({ evidence }) => evidence?.endsWith(': moved away'))).to.equal(true);
  });

  describe('the check for missing Pods', () => {
    const many = manyAllocations(1_000).map(podKeyOf);
    const present = new Set<string>();
    let classified: string[];
    let missing: MissingPods;
    let explained: number;
    let alarms: (string | undefined)[];

    beforeEach(() => {
      present.clear();
      classified = [];
      explained = 0;
      alarms = [];
      missing = new MissingPods({
        pods: { has: (key) => present.has(key) },
        allocations: {
          podKeys: () => many,
          uids: (key) => (classified.push(key), ['uid']),
          uidCount: 1_000,
          uidCountOf: () => 1_000,
        },
        isUnexplained: () => true,
        explain: () => Promise.resolve(void (explained += 1)),
        leaseNamespace: 'kube-system',
        alarm: (message) => alarms.push(message),
      });
    });
    const setAllPresent = (arePresent: boolean): void => {
      for (const key of many) {
        if (arePresent) present.add(key);
        else present.delete(key);
        missing.onChanged(key);
      }
    };

    it('missing Pods are explained again when they are missing again after they were back, and the alarm ends in between', async () => {
      await missing.prepare();
      expect([explained, alarms.length]).to.deep.equal([1, 1]);
      setAllPresent(true);
      missing.check();
      missing.check();
      expect([explained, alarms.slice(1)], 'the alarm is cleared once').to.deep.equal([1, [undefined]]);
      setAllPresent(false);
      await missing.prepare();
      expect([explained, alarms.length]).to.deep.equal([2, 3]);
    });

    it('no alarm is raised or cleared while no Pod is missing', async () => {
      setAllPresent(true);
      await missing.prepare();
      expect([explained, alarms]).to.deep.equal([0, []]);
    });

    it('missing Pods are counted again for a release once a second', async () => {
      await missing.prepare();
      let now = performance.now();
      try {
        performance.now = () => now;
        missing.check();
        present.add('default/p7');
        missing.onChanged('default/p7');
        const before = missing.absent.size;
        now += 1_000;
        expect([missing.isHalted('default'), missing.absent.size]).to.deep.equal([true, before]);
        now += 1;
        expect([missing.isHalted('default'), missing.absent.size]).to.deep.equal([true, before - 1]);
        missing.onChanged('default/p8');
        classified = [];
        missing.isHalted('default');
        expect(classified).to.deep.equal([]);
      } finally {
        Reflect.deleteProperty(performance, 'now');
      }
    });

    it('missing Pods are counted again only if they have changed, also when the guard checks them again', async () => {
      await missing.prepare();
      expect([classified.length, missing.absent.size]).to.deep.equal([1_000, 1_000]);
      missing.check();
      missing.onChanged('default/p7');
      missing.check();
      expect(classified).to.have.lengthOf(1_001);
    });

    it('a missing Pod is no longer missing at the next check after it was created again', async () => {
      await missing.prepare();
      present.add('default/p7');
      missing.onChanged('default/p7');
      missing.check();
      expect([missing.absent.size, missing.absent.has('default/p7')]).to.deep.equal([999, false]);
    });

    it('a name with its Pod is not kept for the next check when it changes', async () => {
      for (const key of many) present.add(key);
      await missing.prepare();
      missing.onChanged('default/p7');
      // Shows what the check classifies: it would find this name absent.
      present.delete('default/p7');
      missing.check();
      expect(classified).to.deep.equal([]);
      missing.onChanged('default/p7');
      missing.check();
      expect([classified, missing.absent.size]).to.deep.equal([['default/p7'], 1]);
    });
  });
});

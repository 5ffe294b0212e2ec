/**
 * Creates, deletes and completes Pods while no watcher runs: the next watcher sends one command per
 * missed change, and no other command.
 */
import { expect } from 'chai';
import { completePod } from './retrying-api.ts';
import { withOutageDuring } from './outage.ts';
import { expectCommands } from './expected-commands.ts';
import { type CountingProxy, createCountingProxy } from './counting-proxy.ts';
import { createPod, deletePod, type ChurnedPod, waitForAllAddresses } from './pod-churn.ts';
import { type SeededRandom, createSeededRandom } from './seeded-random.ts';
import { testSize } from './test-size.ts';
import { startFaultEnvironment, type FaultEnvironment } from './fault-environment.ts';
import { expectInvariants } from './invariants.ts';

const concurrency = 32;

describe('faults: watcher downtime', function () {
  this.timeout(testSize.timeoutMs);
  let environment: FaultEnvironment;
  let counter: CountingProxy;
  let random: SeededRandom;
  const lives: ChurnedPod[] = [];
  before(async () => {
    environment = await startFaultEnvironment({
      proxyFor: (run, link, target) => {
        counter ??= createCountingProxy(run);
        return link === 'allocator' ? counter.startFor(target) : Promise.resolve(target);
      },
    });
    random = createSeededRandom('watcher downtime');
  });
  after(() => environment?.run.end());

  /** Creates Pods with names of this kind. */
  async function createPods(kind: string, count: number): Promise<ChurnedPod[]> {
    const inputs = Array.from({ length: count }, (_, index) => ({ name: `${kind}-${index}`, own: random.fork() }));
    const created: ChurnedPod[] = [];
    await each(inputs, async ({ name, own }) => void created.push(await createPod(environment, name, own)));
    lives.push(...created);
    return created;
  }

  it(`Downtime of the pod-watcher leads to one command per Pod, when ${testSize.completed} Pods complete and others are created and deleted`, async () => {
    const few = Math.ceil(testSize.completed / 10);
    const [completed, deleted, replaced, kept] = [
      await createPods('completes', testSize.completed),
      await createPods('goes', few),
      await createPods('is-replaced', few),
      await createPods('stays', few),
    ];
    await waitForAllAddresses(environment, lives);
    await expectInvariants(environment, lives);

    let created: ChurnedPod[] = [];
    await withOutageDuring(environment.watchers, 'killed', async () => {
      counter.reset();
      await each(completed, async (life) => {
        await completePod(environment, life.name);
        life.fate = 'completed';
      });
      await each([...deleted, ...replaced], (life) => deletePod(environment, life, { force: false }));
      created = [...(await createPods('is-replaced', few)), ...(await createPods('comes', few))];
      // No watcher receives these Pods
      await each(await createPods('came-and-went', few), (life) => deletePod(environment, life, { force: false }));
    });
    await expectInvariants(environment, lives);

    const release = [...completed, ...deleted];
    expectCommands(counter, { allocate: created, release, mayRelease: replaced }, lives);
    expect(kept.map(({ fate }) => fate)).to.not.include('deleted');
  });

  it('Downtime of the pod-watcher leads to no command after a restart without missed changes', async () => {
    counter.reset();
    await Promise.all(environment.watchers.map((watcher) => watcher.restart()));
    // A Pod with its addresses shows that a watcher holds the Lease and has processed all Pods with
    // earlier names
    const probes = await createPods('watched-again', 1);
    await waitForAllAddresses(environment, probes);
    await expectInvariants(environment, lives);
    expectCommands(counter, { allocate: probes }, lives);
    expect(counter.requestsOf('deleteSubnet')).to.deep.equal([]);
  });

  it('Downtime of the pod-watcher leads to the release of all addresses, when all Pods are deleted: the API keeps its deletion events', async () => {
    const remaining = lives.filter(({ fate }) => fate !== 'deleted');
    const running = remaining.filter(({ fate }) => fate === 'lives');
    await withOutageDuring(environment.watchers, 'killed', async () => {
      counter.reset();
      await each(remaining, (life) => deletePod(environment, life, { force: false }));
    });
    const { allocationPeriods } = await expectInvariants(environment, lives);
    expect(allocationPeriods.filter((period) => period.end === undefined)).to.deep.equal([]);
    expectCommands(counter, { release: running }, lives);
  });

  async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
    const queue = [...items];
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
      }),
    );
  }
});

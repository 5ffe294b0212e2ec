/**
 * Thousands of Pods at once: created, annotated, deleted, released. What must be so is asserted; how long it took is shown
 * beside what the same requests take by themselves, and judged by people.
 */
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { type Api, connectApi } from '../../services/pod-watcher/kubernetes/api.ts';
import type { Pod } from '../../services/pod-watcher/kubernetes/objects.ts';
import { makeNetworkAndSubnet, openScene, type Scene } from '../e2e/scene.ts';
import { type Crowd, createPods, crowdOf, deletePods, unwrite, write, writesFor } from './crowd.ts';
import { probedHeaps } from './heap.ts';
import { type Onlooker, onlookerOf } from './onlooker.ts';
import { type Cost, costOf, memoryOf, sumOf } from './parts.ts';
import { reportOf } from './report.ts';
import { between, type Requests, requestsSoFar } from './requests.ts';
import { agreedPicture, expectAllServed, expectNothingLeft } from './sides.ts';

const namespace = 'default';
/** An API server that has just started is slower than it will ever be again. */
const warmUp = 200;

for (const { count, networks, rounds } of [
  { count: 1_000, networks: ['lan'], rounds: 3 },
  { count: 5_000, networks: ['lan', 'san', 'wan'], rounds: 1 },
])
  describe(`scale: ${count} Pods at once with ${networks.length} attachment(s) each`, function () {
    this.timeout(900_000);
    const crowd = crowdOf(namespace, count, networks);
    const addresses = count * networks.length;
    let heaps: ReturnType<typeof probedHeaps>;
    let scene: Scene;
    let api: Api;
    let onlooker: Onlooker;
    let raw: Bare;
    const own: { created?: Creation; deleted?: Cost } = {};
    const memory: ReadonlyMap<string, number>[] = [];
    const notes: [string, string][] = [];

    before(async () => {
      heaps = probedHeaps();
      scene = await openScene();
      for (const [index, network] of networks.entries())
        await makeNetworkAndSubnet(scene, network, `10.${10 + index}.0.0/16`);
      const config = new KubeConfig();
      config.loadFromFile(scene.stack.cluster.kubeconfig);
      api = connectApi(config);
      onlooker = await onlookerOf(api, namespace, scene.run.signal);
      await scene.stack.watcher.stop();
      await bare(crowdOf(namespace, warmUp, networks));
      raw = await bare(crowd);
      await scene.stack.watcher.start();
      memory.push(memoryOf(scene.stack));
    });
    after(async () => {
      await scene?.run.end();
      heaps?.end();
      if (!own.created || !own.deleted) return;
      const annotated = { raw: raw.pods.seconds, own: own.created.annotatedSeconds };
      const created = { raw: raw.created, own: own.created };
      const deleted = { raw: raw.deleted, own: own.deleted };
      console.log(
        `\n${reportOf(`${count} Pods, ${addresses} addresses`, { annotated, created, deleted, memory, notes })}\n`,
      );
    });

    interface Bare {
      /** The Pods and their annotations alone. */
      readonly pods: Cost;
      readonly created: Cost;
      readonly deleted: Cost;
    }

    /** The Pods, their patches and their IP objects, made and taken away with nobody between us and the API server. */
    async function bare(pods: Crowd): Promise<Bare> {
      const { stack, run } = scene;
      let made: Pod[] = [];
      const creation = await costOf(stack, async () => (made = await createPods(api, pods, run.signal)));
      const writes = writesFor(made, pods);
      const patches = await costOf(stack, () => write(api, { ...writes, ips: [] }, run.signal));
      const objects = await costOf(stack, () => write(api, { ...writes, patches: [] }, run.signal));
      await onlooker.served(pods);
      const deletion = await costOf(stack, () => deletePods(api, pods, run.signal));
      const removal = await costOf(stack, () => unwrite(api, writes, run.signal));
      await onlooker.gone();
      const alone = sumOf([creation, patches]);
      return { pods: alone, created: sumOf([alone, objects]), deleted: sumOf([deletion, removal]) };
    }

    interface Creation extends Cost {
      /** To the last annotation. */
      readonly annotatedSeconds: number;
    }

    async function create(pods = crowd): Promise<Creation> {
      const startedAt = performance.now();
      let annotatedSeconds = 0;
      const cost = await costOf(scene.stack, async () => {
        await createPods(api, pods, scene.run.signal);
        await onlooker.annotated(pods);
        annotatedSeconds = (performance.now() - startedAt) / 1000;
        await onlooker.served(pods);
      });
      return { ...cost, annotatedSeconds };
    }
    const remove = (): Promise<Cost> =>
      costOf(scene.stack, async () => {
        await deletePods(api, crowd, scene.run.signal);
        await onlooker.gone();
      });
    const picture = () => agreedPicture(scene.stack, scene.run.signal);

    /** How many events the ledger has. */
    const events = async (): Promise<number> => {
      const head = await scene.stack.etcd.etcdctl(['get', '/ipledger/v1/head', '--print-value-only']);
      return (JSON.parse(head) as { seq: number }).seq;
    };

    /** Each is asked for once, not twice; what the API server was too slow to answer is asked for again, however many these are. */
    const expectOnce = ([before, after]: readonly [Requests, Requests], kind: string, times: number): void => {
      const found = between(before, after, kind);
      notes.push([`${kind}, requests`, String(found)]);
      expect(found, kind).to.be.within(times, Math.ceil(times * 1.2));
    };

    const noteHeaps = async (when: string): Promise<void> => {
      const { allocator, watcher } = scene.stack;
      const live = [await heaps.liveMiB(allocator), await heaps.liveMiB(watcher)];
      notes.push([`live heap, ${when}`, `allocator ${live[0]} MiB, pod-watcher ${live[1]} MiB`]);
    };

    it('are annotated, every address distinct, seen from three sides', async () => {
      const [known, asked] = [await events(), await requestsSoFar(scene.stack.cluster)];
      own.created = await create();
      memory.push(memoryOf(scene.stack));
      expectAllServed(await picture(), crowd);
      expect((await events()) - known, 'an event for each address, and no other').to.equal(addresses);
      const requests = [asked, await requestsSoFar(scene.stack.cluster)] as const;
      expectOnce(requests, 'PATCH pods', count);
      expectOnce(requests, 'POST ips', addresses);
      expect(between(...requests, 'PATCH ips')).to.equal(0);
      notes.push(['PATCH subnets/status, requests', String(between(...requests, 'PATCH subnets/status'))]);
      await noteHeaps('all served');
    });

    it('are released when they are deleted, and nothing is left', async () => {
      const [known, asked] = [await events(), await requestsSoFar(scene.stack.cluster)];
      own.deleted = await remove();
      memory.push(memoryOf(scene.stack));
      expectNothingLeft(await picture());
      expect((await events()) - known, 'an event for each address, and no other').to.equal(addresses);
      const requests = [asked, await requestsSoFar(scene.stack.cluster)] as const;
      expectOnce(requests, 'DELETE ips', addresses);
      expect(between(...requests, 'PATCH pods')).to.equal(0);
      await noteHeaps('all released');
    });

    for (let round = 2; round <= rounds; round++)
      it(`are served and released once more, placed by a scheduler, and nothing is left, round ${round}`, async () => {
        const asked = await requestsSoFar(scene.stack.cluster);
        await create({ ...crowd, scheduled: true });
        expectAllServed(await picture(), crowd);
        const twice = between(asked, await requestsSoFar(scene.stack.cluster), 'PATCH ips');
        notes.push([`PATCH ips, requests, round ${round}`, String(twice)]);
        expect(twice).to.be.at.most(addresses);
        await remove();
        expectNothingLeft(await picture());
        const { allocator, 'pod-watcher': watcher } = Object.fromEntries(memoryOf(scene.stack));
        notes.push([`memory, after round ${round}`, `allocator ${allocator} MiB, pod-watcher ${watcher} MiB`]);
        await noteHeaps(`after round ${round}`);
      });

    if (rounds === 1) return;
    it('are left as they are by an allocator and a watcher that start anew', async () => {
      const { allocator, watcher, cluster } = scene.stack;
      await create();
      expectAllServed(await picture(), crowd);
      const [known, asked] = [await events(), await requestsSoFar(cluster)];
      await watcher.stop();
      await allocator.restart();
      await watcher.start();
      expectAllServed(await picture(), crowd);
      expect(await events()).to.equal(known);
      const requests = [asked, await requestsSoFar(cluster)] as const;
      for (const kind of ['PATCH pods', 'POST ips', 'PATCH ips', 'DELETE ips'])
        expect(between(...requests, kind), kind).to.equal(0);
      await remove();
      expectNothingLeft(await picture());
    });
  });

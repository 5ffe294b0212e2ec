/**
 * Creates and deletes thousands of Pods at the same time. Asserts annotations, allocations and
 * releases. Prints the costs beside those of the same requests without ipledger.
 */
import { expect } from 'chai';
import type { Api } from '../../lib/kubernetes/client/kubernetes-api.ts';
import type { Pod } from '../../services/pod-watcher/kubernetes/objects/pod.ts';
import { testSize } from '../faults/test-size.ts';
import { makeNetworkAndSubnet, openTestEnvironment, type TestEnvironment } from '../e2e/support/test-environment.ts';
import {
  type PodBatch,
  createPods,
  definePodBatch,
  deletePods,
  deleteIpObjects,
  applyWrites,
  planWrites,
} from './pod-batch.ts';
import { enableHeapProbes } from './heap.ts';
import { type PodObserver, startPodObserver } from './pod-observer.ts';
import { type Cost, measureCost, memoryByProcess, sumCosts } from './process-costs.ts';
import { formatReport } from './report.ts';
import { countSince, type RequestCounts, readRequestCounts } from './api-requests.ts';
import { waitForAgreement, expectAllServed, expectNothingLeft } from './three-views.ts';

const namespace = 'default';
/** The Pods of the first batch, which warms up: an API server is slow just after its start. */
const warmUpPods = 200;

for (const { count, networks, rounds } of testSize.podBursts)
  describe(`scale: ${count} Pods with ${networks.length} attachment(s) each, created at the same time`, function () {
    this.timeout(testSize.timeoutMs);
    const batch = definePodBatch(namespace, count, networks);
    const addresses = count * networks.length;
    let heaps: ReturnType<typeof enableHeapProbes>;
    let environment: TestEnvironment;
    let api: Api;
    let observer: PodObserver;
    let raw: RawCosts;
    const own: { created?: Creation; deleted?: Cost } = {};
    const memory: ReadonlyMap<string, number>[] = [];
    const notes: [string, string][] = [];

    before(async () => {
      heaps = enableHeapProbes();
      environment = await openTestEnvironment({ ownCluster: true });
      for (const [index, network] of networks.entries())
        await makeNetworkAndSubnet(environment, network, `10.${10 + index}.0.0/16`);
      api = environment.kubernetes.api;
      observer = await startPodObserver(api, namespace, environment.run.signal);
      await environment.stack.watcher.stop();
      await measureRaw(definePodBatch(namespace, warmUpPods, networks));
      raw = await measureRaw(batch);
      await environment.stack.watcher.start();
      memory.push(memoryByProcess(environment.stack));
    });
    after(async () => {
      await environment?.run.end();
      heaps?.end();
      if (!own.created || !own.deleted) return;
      const annotated = { raw: raw.pods.seconds, own: own.created.annotatedSeconds };
      const created = { raw: raw.created, own: own.created };
      const deleted = { raw: raw.deleted, own: own.deleted };
      console.log(
        `\n${formatReport(`${count} Pods, ${addresses} addresses`, { annotated, created, deleted, memory, notes })}\n`,
      );
    });

    interface RawCosts {
      /** The cost of the Pods and their annotations alone. */
      readonly pods: Cost;
      readonly created: Cost;
      readonly deleted: Cost;
    }

    /**
     * Creates and deletes the Pods, their patches and their IP objects directly at the API server.
     */
    async function measureRaw(pods: PodBatch): Promise<RawCosts> {
      const { stack, run } = environment;
      let created: Pod[] = [];
      const creation = await measureCost(stack, async () => (created = await createPods(api, pods, run.signal)));
      const writes = planWrites(created, pods);
      const patches = await measureCost(stack, () => applyWrites(api, { ...writes, ips: [] }, run.signal));
      const objects = await measureCost(stack, () => applyWrites(api, { ...writes, patches: [] }, run.signal));
      await observer.waitUntilServed(pods);
      const deletion = await measureCost(stack, () => deletePods(api, pods, run.signal));
      const removal = await measureCost(stack, () => deleteIpObjects(api, writes, run.signal));
      await observer.waitUntilGone();
      const alone = sumCosts([creation, patches]);
      return { pods: alone, created: sumCosts([alone, objects]), deleted: sumCosts([deletion, removal]) };
    }

    interface Creation extends Cost {
      /** The time from the first request to the last annotation. */
      readonly annotatedSeconds: number;
    }

    async function create(pods = batch): Promise<Creation> {
      const startedAt = performance.now();
      let annotatedSeconds = 0;
      const cost = await measureCost(environment.stack, async () => {
        await createPods(api, pods, environment.run.signal);
        await observer.waitUntilAnnotated(pods);
        annotatedSeconds = (performance.now() - startedAt) / 1000;
        await observer.waitUntilServed(pods);
      });
      return { ...cost, annotatedSeconds };
    }
    const remove = (): Promise<Cost> =>
      measureCost(environment.stack, async () => {
        await deletePods(api, batch, environment.run.signal);
        await observer.waitUntilGone();
      });
    const readSnapshot = () => waitForAgreement(environment.stack, environment.run.signal);

    /** Counts the events in the ledger. */
    const countEvents = async (): Promise<number> => {
      const head = await environment.stack.etcd.etcdctl(['get', '/ipledger/v1/head', '--print-value-only']);
      return (JSON.parse(head) as { seq: number }).seq;
    };

    /**
     * Expects one request for each object. A fifth more is allowed: requests that the API server
     * answers too slowly are repeated.
     */
    const expectOnce = (
      [before, after]: readonly [RequestCounts, RequestCounts],
      kind: string,
      times: number,
    ): void => {
      const found = countSince(before, after, kind);
      notes.push([`${kind}, requests`, String(found)]);
      expect(found, kind).to.be.within(times, Math.ceil(times * 1.2));
    };

    const noteHeaps = async (when: string): Promise<void> => {
      const { allocator, watcher } = environment.stack;
      const live = [await heaps.liveMiB(allocator), await heaps.liveMiB(watcher)];
      notes.push([`live heap, ${when}`, `allocator ${live[0]} MiB, pod-watcher ${live[1]} MiB`]);
    };

    it('WB-110 are annotated with distinct addresses, which ledger, IP objects and annotations agree on', async () => {
      const [eventsBefore, requestsBefore] = [await countEvents(), await readRequestCounts(environment.stack.cluster)];
      own.created = await create();
      memory.push(memoryByProcess(environment.stack));
      expectAllServed(await readSnapshot(), batch);
      expect((await countEvents()) - eventsBefore, 'one event for each address, and no other').to.equal(addresses);
      const requests = [requestsBefore, await readRequestCounts(environment.stack.cluster)] as const;
      expectOnce(requests, 'PATCH pods', count);
      expectOnce(requests, 'POST ips', addresses);
      expect(countSince(...requests, 'PATCH ips')).to.equal(0);
      notes.push(['PATCH subnets/status, requests', String(countSince(...requests, 'PATCH subnets/status'))]);
      await noteHeaps('all served');
    });

    it('WB-508 leave no allocation and no IP object when they are deleted', async () => {
      const [eventsBefore, requestsBefore] = [await countEvents(), await readRequestCounts(environment.stack.cluster)];
      own.deleted = await remove();
      memory.push(memoryByProcess(environment.stack));
      expectNothingLeft(await readSnapshot());
      expect((await countEvents()) - eventsBefore, 'one event for each address, and no other').to.equal(addresses);
      const requests = [requestsBefore, await readRequestCounts(environment.stack.cluster)] as const;
      expectOnce(requests, 'DELETE ips', addresses);
      expect(countSince(...requests, 'PATCH pods')).to.equal(0);
      await noteHeaps('all released');
    });

    for (let round = 2; round <= rounds; round++)
      it(`Pods created at the same time leave nothing after they were created, scheduled and deleted again, round ${round}`, async () => {
        const requestsBefore = await readRequestCounts(environment.stack.cluster);
        await create({ ...batch, scheduled: true });
        expectAllServed(await readSnapshot(), batch);
        const repeated = countSince(requestsBefore, await readRequestCounts(environment.stack.cluster), 'PATCH ips');
        notes.push([`PATCH ips, requests, round ${round}`, String(repeated)]);
        expect(repeated).to.be.at.most(addresses);
        await remove();
        expectNothingLeft(await readSnapshot());
        const { allocator, 'pod-watcher': watcher } = Object.fromEntries(memoryByProcess(environment.stack));
        notes.push([`memory, after round ${round}`, `allocator ${allocator} MiB, pod-watcher ${watcher} MiB`]);
        await noteHeaps(`after round ${round}`);
      });

    if (rounds === 1) return;
    it('Pods created at the same time do not change when the allocator and the watcher restart', async () => {
      const { allocator, watcher, cluster } = environment.stack;
      await create();
      expectAllServed(await readSnapshot(), batch);
      const [eventsBefore, requestsBefore] = [await countEvents(), await readRequestCounts(cluster)];
      await watcher.stop();
      await allocator.restart();
      await watcher.start();
      expectAllServed(await readSnapshot(), batch);
      expect(await countEvents()).to.equal(eventsBefore);
      const requests = [requestsBefore, await readRequestCounts(cluster)] as const;
      for (const kind of ['PATCH pods', 'POST ips', 'PATCH ips', 'DELETE ips'])
        expect(countSince(...requests, kind), kind).to.equal(0);
      await remove();
      expectNothingLeft(await readSnapshot());
    });
  });

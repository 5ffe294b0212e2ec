/** Finds and removes the objects that a selftest made. */
import { pause, timeoutSignal } from '../../../lib/process/abortable.ts';
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { collectionPaths } from '../../cluster/read-cluster.ts';
import { namePrefix } from './test-objects.ts';

const readAgainMs = 500;
const removalTimeoutMs = 60_000;

/** A namespace or a Subnet of a selftest. */
interface TestObject {
  /** "namespace ipledger-selftest-1a2b3c4d" */
  readonly title: string;
  readonly path: string;
  readonly uid: string;
  readonly isTerminating: boolean;
}

/** Those that this run, or with the label alone any run, made: an object of another name is not. */
export async function findTestObjects(kubernetes: KubernetesClient, selector: string): Promise<TestObject[]> {
  const collections = { namespace: '/api/v1/namespaces', Subnet: collectionPaths.Subnet };
  const found = await Promise.all(
    Object.entries(collections).map(async ([kind, collection]) => {
      const items = await kubernetes.list(`${collection}?labelSelector=${encodeURIComponent(selector)}`);
      return items.map((item) => {
        const { name, uid, deletionTimestamp } = asRecord(item['metadata']);
        const title = `${kind} ${asText(name)}`;
        const path = `${collection}/${asText(name)}`;
        return { title, path, uid: asText(uid), isTerminating: deletionTimestamp !== undefined };
      });
    }),
  );
  return found.flat().filter(({ title }) => title.includes(` ${namePrefix}`));
}

/** Removes what a selftest made. @returns the titles of what still exists after the time */
export async function removeObjects(kubernetes: KubernetesClient, selector: string): Promise<string[]> {
  const signal = timeoutSignal(removalTimeoutMs);
  for (;;) {
    const left = await findTestObjects(kubernetes, selector);
    if (left.length === 0 || signal.aborted) return left.map(({ title }) => title);
    for (const { path, uid, isTerminating } of left) if (!isTerminating) await kubernetes.remove(path, uid);
    await pause(readAgainMs, signal);
  }
}

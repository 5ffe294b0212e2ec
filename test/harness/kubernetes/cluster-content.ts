/**
 * The objects of a Kubernetes API as keys in etcd: read them until they are stable, and restore
 * them. Pure but for the waits.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** The objects in etcd, by key. */
export type Content = ReadonlyMap<string, Buffer>;

/** Access to the objects in etcd. */
export interface ContentStore {
  read(): Promise<Content>;
  put(key: string, value: Buffer): Promise<unknown>;
  delete(key: string): Promise<unknown>;
}

/** The time between two reads, within which controllers react to a change. */
const defaultSettleMs = 200;
/** The reads without a difference after which the content counts as stable. */
const stableReads = 5;
/**
 * The restores before `restoreContent` gives up: a server writes each time, because it does not
 * agree with the content.
 */
const maxRestores = 20;

/**
 * The keys from which the API server derives its paths. A cluster in which they changed is not used
 * again.
 */
const schemaKeys = /^\/registry\/(apiextensions|apiregistration)/;

interface Difference {
  readonly added: readonly string[];
  readonly changed: readonly (readonly [string, Buffer])[];
}

function findDifference(now: Content, pristine: Content): Difference {
  return {
    added: [...now.keys()].filter((key) => !pristine.has(key)),
    changed: [...pristine].filter(([key, value]) => now.get(key)?.equals(value) !== true),
  };
}

const isEmpty = ({ added, changed }: Difference): boolean => added.length + changed.length === 0;

/**
 * Reads the content when no server has changed a key or a value for five reads: a new cluster's
 * controllers still write.
 */
export async function readStableContent(
  { read }: Pick<ContentStore, 'read'>,
  settleMs = defaultSettleMs,
): Promise<Content> {
  let last = await read();
  for (let equalReads = 0; equalReads < stableReads;) {
    await sleep(settleMs);
    const now = await read();
    equalReads = isEmpty(findDifference(now, last)) ? equalReads + 1 : 0;
    last = now;
  }
  return last;
}

/**
 * Restores the content, and repeats it while controllers react to it.
 *
 * @returns false if that is impossible: a schema changed, or a server writes after each of 20
 * restores
 */
export async function restoreContent(
  store: ContentStore,
  pristine: Content,
  settleMs = defaultSettleMs,
): Promise<boolean> {
  for (let restores = 0; restores < maxRestores; restores += 1) {
    const difference = findDifference(await store.read(), pristine);
    const { added, changed } = difference;
    if (isEmpty(difference)) return true;
    if ([...added, ...changed.map(([key]) => key)].some((key) => schemaKeys.test(key))) return false;
    await Promise.all([
      ...added.map((key) => store.delete(key)),
      ...changed.map(([key, value]) => store.put(key, value)),
    ]);
    await sleep(settleMs);
  }
  return false;
}

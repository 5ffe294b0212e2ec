/**
 * Static Pods. A static Pod runs without regard to its mirror in the API: when a mirror is deleted, its kubelet creates the next one,
 * also under another hash when the manifest has changed. So what a static Pod holds stays while a container is bound to it.
 */
import type { WatcherLedgerClient } from '../../ledger/ledger-client.ts';
import type { HeldAllocation } from '../../ledger/ledger-events.ts';

export interface StaticPodOptions {
  readonly allocator: Pick<WatcherLedgerClient, 'listBindings'>;
  /** Looks up whether the Node exists. */
  readonly nodeExists: (name: string, signal: AbortSignal) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 * Whether a container is bound to one of these allocations. Only the agent of a node binds, so a Pod that only looks like a mirror has
 * no binding. A binding on a Node that was deleted does not count. A Node owns the mirrors of its kubelet; other names of nodes may
 * never have been those of a Node.
 */
export async function isContainerBound(held: readonly HeldAllocation[], options: StaticPodOptions): Promise<boolean> {
  const { allocator, nodeExists, signal } = options;
  const seqs = new Set(held.map(({ seq }) => seq));
  const isOfNode = held.some(({ owner }) => owner?.kind === 'Node');
  for (const node of new Set(held.map((each) => each.node).filter((name) => name !== '')))
    for (let pageToken = ''; ;) {
      const { bindings, nextPageToken } = await allocator.listBindings({ node, pageToken }, signal);
      if (bindings.some(({ allocationSeq }) => seqs.has(allocationSeq))) {
        if (!isOfNode || (await nodeExists(node, signal))) return true;
        break;
      }
      pageToken = nextPageToken;
      if (pageToken === '') break;
    }
  return false;
}

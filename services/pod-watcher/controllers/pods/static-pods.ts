/**
 * Static Pods. A static Pod runs without regard to its mirror in the API: when a mirror is deleted,
 * its kubelet creates the next one, with another hash if the manifest has changed. So what a static
 * Pod holds stays while a container is bound to it.
 */
import type { LedgerClient } from '../../../../lib/ledger-client/ledger-client.ts';
import { readPages } from '../../../../lib/ledger-client/pages.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import type { HeldAllocation } from '../../ledger/ledger-events.ts';

export interface StaticPodOptions {
  readonly allocator: Pick<LedgerClient, 'call'>;
  /** Looks up whether the Node exists. */
  readonly nodeExists: (name: string, signal: AbortSignal) => Promise<boolean>;
  readonly signal: AbortSignal;
}

/**
 * Whether a container is bound to any of these allocations. Only the agent of a node binds, so a
 * Pod that only looks like a mirror has no binding. A binding on a deleted Node does not count. A
 * Node owns the mirrors of its kubelet, and other node names may never have been those of a Node.
 */
export async function isContainerBound(held: readonly HeldAllocation[], options: StaticPodOptions): Promise<boolean> {
  const { allocator, nodeExists, signal } = options;
  const seqs = new Set(held.map(({ seq }) => seq));
  const isOfNode = held.some(({ owner }) => owner?.kind === 'Node');
  for (const node of new Set(held.map((each) => each.node).filter((name) => name !== ''))) {
    const read = (pageToken: string) => allocator.call(IpamService.listBindings, { node, pageToken }, signal);
    for await (const { bindings } of readPages(read))
      if (bindings.some(({ allocationSeq }) => seqs.has(allocationSeq))) {
        if (!isOfNode || (await nodeExists(node, signal))) return true;
        break;
      }
  }
  return false;
}

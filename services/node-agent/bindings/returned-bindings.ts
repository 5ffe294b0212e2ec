/**
 * Ends bindings that a restore of the ledger brought back: of containers whose DEL came after the
 * backup, and of boots that ended after it. Without this their addresses would be held until an
 * operator ends each binding.
 */
import type { ContainerInterface } from './binding-files.ts';
import { type BindingFiles, interfaceKey } from './binding-files.ts';
import { endBindings, type NodeBinding, type NodeBindingsDeps } from './node-bindings.ts';

export interface ReturnedBindingsDeps extends NodeBindingsDeps {
  readonly bootId: string;
  readonly files: BindingFiles;
  readonly hasPendingDel: (container: ContainerInterface) => boolean;
}

/**
 * Compares the bindings that the ledger has of this node with the binding files. A first comparison
 * ends nothing: it finds out whether the folder is complete. Resolves to the number of ended
 * bindings. A comparison that is not finished is made again later.
 * @param bindings those of the node, listed in the epoch
 */
export async function endReturnedBindings(
  { allocator, node, bootId, files, hasPendingDel, runExclusive, log }: ReturnedBindingsDeps,
  bindings: readonly NodeBinding[],
  epoch: number,
  signal: AbortSignal,
): Promise<number> {
  const { record } = files;
  const serving = new Set(files.all().map((saved) => interfaceKey({ ...saved, containerId: saved.boundAs })));
  const hasNoFile = (container: ContainerInterface): boolean =>
    !files.get(container) && !files.isOnDisk(container) && !hasPendingDel(container);
  const returned = bindings
    .map(({ attachment, binding }) => ({ ...attachment, ...binding }))
    .filter((bound) => hasNoFile(bound) && !serving.has(interfaceKey(bound)));
  const { ofBoot = [], earlier = [] } = Object.groupBy(returned, (bound) =>
    bound.bootId === bootId ? 'ofBoot' : 'earlier',
  );
  if (record.epoch === undefined) {
    if (ofBoot.length === 0) await record.save(epoch);
    return 0;
  }
  if (record.epoch === epoch) return 0;
  const shared = { allocator, runExclusive, isStale: hasNoFile };
  const evidence = (): string => 'a DEL had ended it before the ledger was restored from a backup: it has no file';
  const errors = [
    ...(await endBindings(ofBoot, { ...shared, cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED', evidence }, signal)),
    ...(await endBindings(earlier, { ...shared, cause: 'UNBIND_CAUSE_NODE_REBOOTED' }, signal)),
  ];
  const [error] = errors;
  if (error) throw error;
  await record.save(epoch);
  if (returned.length > 0)
    log.info(
      { node, ended: returned.length },
      'the ledger was restored from a backup: its ended bindings are ended again',
    );
  return returned.length;
}

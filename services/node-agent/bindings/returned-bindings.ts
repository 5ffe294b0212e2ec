/**
 * Ends bindings that a restore of the ledger brought back: of containers whose DEL came after the
 * backup, and of boots that ended after it. Without this their addresses would be held until an
 * operator ends each binding.
 */
import { type BindingFiles, type ContainerInterface, interfaceKey } from './binding-files.ts';
import { endBindings, type NodeBinding, type NodeBindingsDeps } from './node-bindings.ts';

export interface ReturnedBindingsDeps extends NodeBindingsDeps {
  readonly bootId: string;
  readonly files: BindingFiles;
  readonly hasPendingDel: (container: ContainerInterface) => boolean;
}

/** What the ledger has of the node. */
export interface ListedBindings {
  readonly epoch: number;
  readonly bindings: readonly NodeBinding[];
  /** The discards of the folder's record before the list. */
  readonly discards: number;
}

/**
 * Compares the bindings that the ledger has of this node with the binding files. A first comparison
 * ends nothing: it finds out whether the folder is complete. A comparison that is not finished is
 * made again later.
 */
export async function endReturnedBindings(
  { allocator, node, bootId, files, hasPendingDel, runExclusive, log }: ReturnedBindingsDeps,
  { epoch, bindings, discards }: ListedBindings,
  signal: AbortSignal,
): Promise<void> {
  const { record } = files;
  if (record.discards !== discards) return;
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
    return;
  }
  if (record.epoch === epoch) return;
  const shared = { allocator, runExclusive, isStale: hasNoFile };
  const evidence = (): string => 'a DEL had ended it before the ledger was restored from a backup: it has no file';
  const errors = [
    ...(await endBindings(ofBoot, { ...shared, cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED', evidence }, signal)),
    ...(await endBindings(earlier, { ...shared, cause: 'UNBIND_CAUSE_NODE_REBOOTED' }, signal)),
  ];
  const [error] = errors;
  if (error) throw error;
  if (record.discards === discards) await record.save(epoch);
  if (returned.length > 0)
    log.info(
      { node, ended: returned.length },
      'the ledger was restored from a backup: its ended bindings are ended again',
    );
}

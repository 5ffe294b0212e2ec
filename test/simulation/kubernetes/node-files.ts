/**
 * Checks of the files that agents keep: each binding that the ledger has is of a file, and a file
 * or a pending DEL that is done is removed.
 */
import { type BindingFile, bindingFileName } from '../../../lib/binding-file.ts';
import type { ContainerNic } from './binding-witness.ts';
import type { SimulatedNode } from './node.ts';
import { namesOfVirtualFiles, readVirtualFile } from './virtual-files.ts';

const fileOf = (node: SimulatedNode, nic: ContainerNic): BindingFile | undefined => {
  const text = readVirtualFile(`${node.bindingFiles}/${bindingFileName(nic)}`);
  return text === undefined ? undefined : (JSON.parse(text) as BindingFile);
};

const hasPendingDel = (node: SimulatedNode, nic: ContainerNic): boolean =>
  readVirtualFile(`${node.pendingDelFiles}/${bindingFileName(nic)}`) !== undefined;

/** The agent has read its files: those of earlier boots are void. */
export function checkFilesAtStart(node: SimulatedNode): void {
  for (const file of bindingFiles(node))
    if (file.node === node.name && file.bootId !== node.bootId)
      node.world.fail('files', `${node.name} keeps the file of ${file.containerId}, which is of ${file.bootId}`);
}

/** A DEL has succeeded, or was saved. */
export function checkFilesAfterDel(node: SimulatedNode, nic: ContainerNic): void {
  const file = fileOf(node, nic);
  const named = `${nic.containerId} ${nic.interface} on ${node.name}`;
  if (hasPendingDel(node, nic)) {
    node.pendingDels.set(bindingFileName(nic), nic);
    // The file may be that of a container which uses the binding now
    const isServed = bindingFiles(node).some(({ boundAs }) => boundAs === nic.containerId);
    if (!file && !isServed && node.bindings.isBound(nic, node.bootId))
      node.world.fail('files', `the DEL of ${named} is pending, and its binding has no file`);
  } else if (file && !file.isDeleted) node.world.fail('files', `the DEL of ${named} leaves its file`);
}

/** A pending DEL ends after its binding, unless the binding waits for the next container. */
export function checkPendingDels(node: SimulatedNode): void {
  for (const [name, nic] of node.pendingDels) {
    if (hasPendingDel(node, nic)) continue;
    node.pendingDels.delete(name);
    const file = fileOf(node, nic);
    const isOfNewAdd = node.sandboxes.get(nic.containerId)?.state === 'ready';
    if (file && !file.isDeleted && !isOfNewAdd && node.bindings.isBound(nic, node.bootId))
      node.world.fail('files', `the pending DEL of ${nic.containerId} on ${node.name} is gone before it is done`);
  }
}

/**
 * The files of bindings that wait for the next sandbox of a Pod whose sandboxes fail one after
 * another, or that serve the one which is being made.
 * @param lives whether a Pod of this name and uid in the ledger lives
 */
export function lingeringFiles(
  node: SimulatedNode,
  lives: (pod: { readonly name: string; readonly uid: string }) => boolean,
): BindingFile[] {
  const { name, nics, sandboxes } = node;
  const isReady = ({ pod, podUid, namespace, provider }: BindingFile): boolean =>
    nics.all.some(
      (nic) =>
        nic.node === name &&
        nic.pod === `${namespace}/${pod}` &&
        nic.uid === podUid &&
        nic.provider === provider &&
        sandboxes.get(nic.containerId)?.state === 'ready',
    );
  return bindingFiles(node).filter(
    (file) =>
      file.node === name &&
      (file.isDeleted || file.boundAs !== '') &&
      lives({ name: file.pod, uid: file.podUid }) &&
      !isReady(file),
  );
}

/**
 * The files that should not be there when nothing happens any more, and those that are missing.
 * @param lingering see lingeringFiles
 */
export function wrongFiles(node: SimulatedNode, lingering: readonly BindingFile[]): string[] {
  const { name, nics, isOn, sandboxes } = node;
  if (!isOn) return [];
  // A Pod that waits for an address has one from time to time
  const isBeingMade = ({ containerId }: ContainerNic): boolean => sandboxes.get(containerId)?.state === 'creating';
  const used = nics.all.filter((nic) => nic.node === name);
  const files = bindingFiles(node).filter((file) => file.node === name);
  const isOf = (one: ContainerNic) => (other: ContainerNic) => bindingFileName(one) === bindingFileName(other);
  return [
    ...files
      .filter((file) => !used.some(isOf(file)) && !isBeingMade(file) && !lingering.some(isOf(file)))
      .map(({ containerId }) => `${name} has a file of ${containerId}, which does not run`),
    ...used.filter((nic) => !files.some(isOf(nic))).map(({ containerId }) => `${containerId} on ${name} has no file`),
    ...namesOfVirtualFiles(node.pendingDelFiles).map((each) => `${name} has the pending DEL ${each}`),
    ...namesOfVirtualFiles(node.bindingFiles)
      .filter((each) => !each.endsWith('.json') && !each.startsWith('complete@'))
      .map((each) => `${name} keeps the file ${each}`),
  ];
}

/** All of the folder, which nodes may share. */
export const bindingFiles = (node: SimulatedNode): BindingFile[] =>
  namesOfVirtualFiles(node.bindingFiles)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readVirtualFile(`${node.bindingFiles}/${name}`) ?? '{}') as BindingFile);

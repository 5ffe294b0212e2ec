/** Reads copies of the binding files of nodes, for `ipledger recover --bindings NODE=FOLDER`. */
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../../lib/errors.ts';
import { type BindingFile, maxBindingFileBytes, maxBindingFiles, parseBindingFile } from '../../../lib/binding-file.ts';
import { isDnsSubdomain } from '../../../lib/kubernetes/ip-object-name.ts';
import { readTrustedFile } from '../../../lib/process/trusted-file.ts';
import { CliError } from '../../cli-error.ts';

/** The folder with the binding files of one node. */
export interface BindingFolder {
  readonly node: string;
  readonly folder: string;
}

/** Undefined for a text that is not NODE=FOLDER. */
export function parseBindingFolder(text: string): BindingFolder | undefined {
  const [, node = '', folder = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  return isDnsSubdomain(node) ? { node, folder } : undefined;
}

/**
 * The bindings of containers that have not ended. A file of another node is left out: a node proves only what its own Pods have.
 * @throws CliError for a folder or a file that cannot be read: evidence is never left out silently
 */
export async function readBindingFolders(folders: readonly BindingFolder[]): Promise<BindingFile[]> {
  const bindings: BindingFile[] = [];
  for (const each of folders) bindings.push(...(await readFolder(each)));
  return bindings;
}

async function readFolder({ node, folder }: BindingFolder): Promise<BindingFile[]> {
  const bindings: BindingFile[] = [];
  let path = folder;
  let files = 0;
  try {
    for await (const { name } of await opendir(folder)) {
      if (!name.endsWith('.json')) continue;
      if (++files > maxBindingFiles) throw new Error(`it has more than ${maxBindingFiles} binding files`);
      path = join(folder, name);
      const binding = parseBindingFile(name, await readTrustedFile(path, maxBindingFileBytes));
      path = folder;
      if (binding.node === node && !binding.isDeleted && !binding.isPending) bindings.push(binding);
    }
  } catch (error) {
    const reason = errorMessage(error);
    throw new CliError('usage', `cannot read ${path}, with bindings of node ${node}: ${reason}`, { cause: error });
  }
  return bindings;
}

/**
 * Binding files: the agent's copy of its bindings, one file for each container interface, written
 * before the Bind. They restore the bindings of a ledger that was restored from a backup, and show
 * which sandboxes ended without a DEL. Files are not synced to disk: after a power cut the node has
 * another boot, and bindings of an earlier boot are void. The newest files are empty then.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, writeSync } from 'node:fs';
import { mkdir, opendir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BindingFile,
  bindingFileName,
  maxBindingFileBytes,
  maxBindingFiles,
  parseBindingFile,
} from '../../../lib/binding-file.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { isSystemError, readTrustedFile } from '../../../lib/process/trusted-file.ts';
import { FolderRecord, replaceFile } from './folder-record.ts';
import type { NamespacePlace } from '../network-namespace.ts';

/** A binding that the allocator has acknowledged, or that is about to be requested. */
export interface SavedBinding extends ContainerInterface, NamespacePlace {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly provider: string;
  readonly addresses: readonly string[];
  /** The container whose binding serves this one; '' if its own does. See lingering-bindings.ts. */
  readonly boundAs: string;
  /** Whether the container has ended and its binding waits for the Pod's next container. */
  readonly isDeleted: boolean;
  /** Whether the ADD is still in progress: the file is written before the Bind. */
  readonly isPending: boolean;
  /** The ledger's epoch when the binding was made or last found. */
  readonly epoch: number;
}

export interface BindingFiles {
  /** Saves a binding. @throws IpledgerError OVERLOADED at the limit, or the system's error */
  save(binding: SavedBinding): Promise<void>;
  /** Removes a binding, if there is one. @throws the system's error */
  remove(container: ContainerInterface): Promise<void>;
  get(container: ContainerInterface): SavedBinding | undefined;
  all(): readonly SavedBinding[];
  /** Whether the folder has a file of the container, also one of another process. */
  isOnDisk(container: ContainerInterface): boolean;
  /** Whether the folder has all files. */
  readonly record: Pick<FolderRecord, 'epoch' | 'discards' | 'save' | 'repeatDiscard'>;
}

export interface BindingFilesOptions {
  readonly folder: string;
  /** The node's name. On a test machine, agents of several nodes may share the folder. */
  readonly node: string;
  readonly bootId: string;
  readonly log: Logger;
  readonly maxFiles?: number;
}

/**
 * Reads the folder, and makes it if it is absent. Removes the files of earlier boots and empty
 * ones. Renames another file that cannot be parsed to `<name>.broken`. If the folder cannot be used
 * (a read-only root), the agent logs it and works without binding files.
 */
export async function openBindingFiles({
  folder,
  node,
  bootId,
  log,
  maxFiles = maxBindingFiles,
}: BindingFilesOptions): Promise<BindingFiles> {
  const bindings = new Map<string, SavedBinding>();
  const record = new FolderRecord(folder, node, bootId);
  let isUsable = true;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (await readAll({ folder, node, bootId, log, maxFiles }, bindings)) await record.read();
    else await record.discard();
  } catch (error) {
    isUsable = false;
    bindings.clear();
    await record.discard();
    log.error(
      { err: error, folder },
      'the folder of binding files cannot be used, so that this agent cannot restore bindings after a restore of the ledger: mount a folder of the host in which root can write',
    );
  }

  const write = async (binding: SavedBinding): Promise<void> => {
    if (bindings.size >= maxFiles && !bindings.has(interfaceKey(binding)))
      throw new IpledgerError('OVERLOADED', `${folder} has ${maxFiles} bindings, the limit`);
    const path = join(folder, bindingFileName(binding));
    const text = JSON.stringify({ version: 1, ...binding, node, bootId });
    const isWritten = bindings.has(interfaceKey(binding)) && overwritePage(path, text);
    if (!isWritten) await replaceFile(path, text);
    bindings.set(interfaceKey(binding), binding);
  };

  return {
    async save(binding) {
      try {
        await write(binding);
      } catch (error) {
        await record.discard();
        throw error;
      }
    },
    async remove(container) {
      bindings.delete(interfaceKey(container));
      if (isUsable) await rm(join(folder, bindingFileName(container)), { force: true });
    },
    get: (container) => bindings.get(interfaceKey(container)),
    all: () => [...bindings.values()],
    isOnDisk: (container) => existsSync(join(folder, bindingFileName(container))),
    record,
  };
}

/**
 * The kernel copies at most as many bytes in one piece. So a write is complete or not at all, also
 * when the agent is killed.
 */
const pageBytes = 4_096;

/**
 * Writes JSON into a present file. A rename would leave the inode of the file before, which ext4
 * does not use again for minutes and passes over in each search for a new one (decision 58).
 * @returns false, and has written nothing, for an absent file and for more than a page
 */
function overwritePage(path: string, json: string): boolean {
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return false;
  }
  try {
    const bytes = Buffer.from(json.padEnd(fstatSync(file).size)); // spaces cover the rest of a longer text
    if (bytes.length > pageBytes) return false;
    return writeSync(file, bytes, 0, bytes.length, 0) === bytes.length;
  } finally {
    closeSync(file);
  }
}

/** Returns whether each file was read. */
async function readAll(options: Required<BindingFilesOptions>, bindings: Map<string, SavedBinding>): Promise<boolean> {
  const { folder, node, bootId, log, maxFiles } = options;
  let isComplete = true;
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name);
    if (entry.name.endsWith('.draft')) await rm(path, { force: true });
    if (!entry.name.endsWith('.json')) continue;
    if (bindings.size >= maxFiles) {
      log.error(
        { folder, maxFiles },
        'the folder has more binding files than the limit: remove those of deleted containers',
      );
      return false;
    }
    const binding = await readBinding(path, entry.name, log);
    isComplete &&= binding !== undefined;
    if (!binding || binding.node !== node) continue;
    if (binding.bootId === bootId) bindings.set(interfaceKey(binding), binding);
    else await rm(path, { force: true });
  }
  return isComplete;
}

async function readBinding(path: string, name: string, log: Logger): Promise<BindingFile | undefined> {
  try {
    const text = await readTrustedFile(path, maxBindingFileBytes);
    if (/^\0*$/.test(text)) {
      log.warn({ file: path }, 'a binding file is empty, as after a power cut; removed');
      await rm(path, { force: true });
      return undefined;
    }
    return parseBindingFile(name, text);
  } catch (error) {
    if (isSystemError(error)) {
      log.error(
        { err: error, file: path },
        'a binding file cannot be read; the agent reads it again at its next start',
      );
      return undefined;
    }
    log.error({ err: error, file: path }, 'a binding file cannot be parsed; renamed to .broken');
    await rename(path, `${path}.broken`);
    return undefined;
  }
}

/** A container's interface, which identifies a binding on its node. */
export interface ContainerInterface {
  readonly containerId: string;
  readonly interface: string;
}

/** The key of a container's interface in maps and in the keyed mutex. */
export const interfaceKey = ({ containerId, interface: name }: ContainerInterface): string => `${containerId} ${name}`;

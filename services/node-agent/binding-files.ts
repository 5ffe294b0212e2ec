/**
 * What this agent bound: one file for each interface of a container, written before its ADD is answered. A ledger that was
 * restored from a backup gets its bindings back from them. No file is synced to disk: after a power cut the boot is another,
 * and bindings of an earlier boot are void.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, opendir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Attached } from './asked.ts';
import { turnOf } from './bindings.ts';
import { isSystemError, readOwnFile } from './own-file.ts';

const mostFiles = 20_000;
const mostFileBytes = 16 << 10;

const text = z.string().max(1024);
const fileSchema = z.object({
  version: z.literal(1),
  namespace: text.min(1),
  pod: text.min(1),
  podUid: text,
  provider: text.min(1),
  containerId: text.min(1),
  interface: text.min(1),
  node: text.min(1),
  bootId: text.min(1),
  addresses: z.array(text).max(64),
  epoch: z.number().int().nonnegative(),
});

/** A binding as the allocator acknowledged it. */
export interface KeptBinding extends Attached {
  readonly namespace: string;
  readonly pod: string;
  readonly podUid: string;
  readonly provider: string;
  readonly addresses: readonly string[];
  /** The ledger's epoch when it had the binding. */
  readonly epoch: number;
}

export interface BindingFiles {
  /** Writes one, in the place of an earlier one of the same interface. @throws IpledgerError OVERLOADED at the limit, or the system's error */
  keep(binding: KeptBinding): Promise<void>;
  /** Removes one; no error when there is none. @throws the system's error */
  drop(container: Attached): Promise<void>;
  /** The one of an interface; undefined when there is none. */
  of(container: Attached): KeptBinding | undefined;
  /** All. */
  all(): readonly KeptBinding[];
}

export interface BindingFilesOptions {
  readonly folder: string;
  /** Agents of other nodes may share the folder, as on a machine for trials. */
  readonly node: string;
  readonly bootId: string;
  readonly log: Logger;
  readonly most?: number;
}

const nameOf = ({ containerId, interface: name }: Attached): string => `${containerId}@${name}.json`;

/**
 * Reads the folder, which is made if there is none. Files of earlier boots are removed; a file that cannot be understood is put
 * aside as `<name>.broken`, and logged. Without a folder, as on a read-only root, that is logged, and nothing can be kept.
 */
export async function openBindingFiles({
  folder,
  node,
  bootId,
  log,
  most = mostFiles,
}: BindingFilesOptions): Promise<BindingFiles> {
  const kept = new Map<string, KeptBinding>();
  let isUsable = true;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await readAll({ folder, node, bootId, log, most }, kept);
  } catch (error) {
    isUsable = false;
    kept.clear();
    log.error(
      { err: error, folder },
      'the folder of the files of bindings cannot be used: a ledger restored from a backup gets no bindings back from it; mount a folder of the host there in which root can write',
    );
  }

  return {
    async keep(binding) {
      if (kept.size >= most && !kept.has(turnOf(binding)))
        throw new IpledgerError('OVERLOADED', `${folder} holds ${most} bindings already`);
      const path = join(folder, nameOf(binding));
      const draft = `${path}.${randomBytes(4).toString('hex')}.draft`;
      await writeFile(draft, JSON.stringify({ version: 1, ...binding, node, bootId }), { mode: 0o600, flag: 'wx' });
      await rename(draft, path);
      kept.set(turnOf(binding), binding);
    },
    async drop(container) {
      kept.delete(turnOf(container));
      if (isUsable) await rm(join(folder, nameOf(container)), { force: true });
    },
    of: (container) => kept.get(turnOf(container)),
    all: () => [...kept.values()],
  };
}

async function readAll(options: Required<BindingFilesOptions>, kept: Map<string, KeptBinding>): Promise<void> {
  const { folder, node, bootId, log, most } = options;
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name);
    if (entry.name.endsWith('.draft')) await rm(path, { force: true });
    if (!entry.name.endsWith('.json')) continue;
    if (kept.size >= most) {
      log.error(
        { folder, most },
        'the folder holds more bindings than the limit: remove what no container has any more',
      );
      return;
    }
    const read = await readBinding(path, entry.name, log);
    if (!read || read.node !== node) continue;
    if (read.bootId === bootId) kept.set(turnOf(read), read);
    else await rm(path, { force: true });
  }
}

async function readBinding(path: string, name: string, log: Logger): Promise<z.output<typeof fileSchema> | undefined> {
  try {
    const binding = fileSchema.parse(JSON.parse(await readOwnFile(path, mostFileBytes)));
    if (nameOf(binding) !== name) throw new Error(`the file is named ${name}, and holds ${nameOf(binding)}`);
    return binding;
  } catch (error) {
    if (isSystemError(error)) {
      log.error({ err: error, file: path }, 'the file of a binding cannot be read now; it stays for the next start');
      return undefined;
    }
    log.error({ err: error, file: path }, 'the file of a binding cannot be understood; put aside as .broken');
    await rename(path, `${path}.broken`);
    return undefined;
  }
}

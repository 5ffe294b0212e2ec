/** Replaces a CNI plugin atomically: a runtime runs the old file or the new one. */
import { randomBytes } from 'node:crypto';
import { copyFile, open, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const executable = 0o755;

/**
 * Copies a plugin into an existing folder. Returns the path of the copy. The rename is atomic, and
 * the data is on disk before it. Removes drafts that a killed installation left.
 */
export async function installPlugin(plugin: string, folder: string, name = basename(plugin)): Promise<string> {
  const prefix = `.${name}.`;
  for (const file of await readdir(folder))
    if (file.startsWith(prefix) && file.endsWith('.new')) await rm(join(folder, file), { force: true });
  const draft = join(folder, `${prefix}${randomBytes(6).toString('hex')}.new`);
  const target = join(folder, name);
  try {
    await copyFile(plugin, draft);
    await syncToDisk(draft, executable);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
  await syncToDisk(folder);
  return target;
}

async function syncToDisk(path: string, mode?: number): Promise<void> {
  await using handle = await open(path, 'r');
  if (mode !== undefined) await handle.chmod(mode);
  await handle.sync();
}

/**
 * Links further names to an installed plugin, so that configurations of other types run it. Keeps a
 * file of another origin.
 * @returns the names that belong to other files
 */
export async function linkPlugin(plugin: string, names: readonly string[]): Promise<string[]> {
  const folder = dirname(plugin);
  const taken: string[] = [];
  for (const name of names) {
    const path = join(folder, name);
    try {
      await symlink(basename(plugin), path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const target = await readlink(path).catch(() => '');
      if (target !== basename(plugin)) taken.push(name);
    }
  }
  await syncToDisk(folder);
  return taken;
}

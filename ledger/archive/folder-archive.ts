/** An archive in a folder: on a disk other than etcd's, or on a mounted share. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { IpledgerError } from '../../lib/errors.ts';
import type { Archive } from './archive.ts';

export class FolderArchive implements Archive {
  readonly location: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.location = `folder ${folder}`;
  }

  /**
   * Atomic: the content is on disk before the file gets its name. It does not create a missing folder: if a share is not mounted,
   * the only copy of the sealed events would be on the local disk.
   */
  async put(name: string, content: Buffer, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const file = join(this.#folder, name);
    try {
      await access(this.#folder);
      await mkdir(dirname(file), { recursive: true });
      const temporary = `${file}.${randomBytes(6).toString('hex')}.new`;
      await syncFile(temporary, 'wx', (handle) => handle.writeFile(content));
      await rename(temporary, file);
      await syncFile(dirname(file), 'r');
    } catch (error) {
      throw unavailable(`${file} could not be written`, error);
    }
  }

  /** A missing folder is an error, not a missing file: the share may not be mounted, or the path may be wrong. */
  async get(name: string, signal: AbortSignal): Promise<Buffer | undefined> {
    const file = join(this.#folder, name);
    try {
      return await readFile(file, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && existsSync(dirname(file))) return undefined;
      throw unavailable(`${file} could not be read`, error);
    }
  }
}

type Handle = Awaited<ReturnType<typeof open>>;

async function syncFile(path: string, flags: string, use: (handle: Handle) => Promise<void> = async () => undefined) {
  const handle = await open(path, flags);
  try {
    await use(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const unavailable = (failure: string, cause: unknown): IpledgerError =>
  new IpledgerError('UNAVAILABLE', `the archive: ${failure}: ${(cause as Error).message}`, { cause });

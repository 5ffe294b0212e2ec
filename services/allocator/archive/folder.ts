/** An archive in a folder: of a disk that is not etcd's, or of a mounted share. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Archive } from './archive.ts';

export class FolderArchive implements Archive {
  readonly location: string;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.location = `folder ${folder}`;
  }

  /**
   * Under the name there is nothing or all of it: the content is on disk before it gets the name. A folder that is not there is not
   * made: where a share is not mounted, the only copy of what is sealed would be on a disk that nobody meant.
   */
  async put(name: string, content: Buffer, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const file = join(this.#folder, name);
    try {
      await access(this.#folder);
      await mkdir(dirname(file), { recursive: true });
      const fresh = `${file}.${randomBytes(6).toString('hex')}.new`;
      await onDisk(fresh, 'wx', (handle) => handle.writeFile(content));
      await rename(fresh, file);
      await onDisk(dirname(file), 'r');
    } catch (error) {
      throw unavailable(`${file} could not be written`, error);
    }
  }

  /** A folder that is not there is an error, and not an object that is not there: it may not be mounted, or be the wrong one. */
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

async function onDisk(path: string, flags: string, use: (handle: Handle) => Promise<void> = async () => undefined) {
  const handle = await open(path, flags);
  try {
    await use(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const unavailable = (what: string, cause: unknown): IpledgerError =>
  new IpledgerError('UNAVAILABLE', `the archive: ${what}: ${(cause as Error).message}`, { cause });

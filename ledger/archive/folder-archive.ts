/** An archive in a folder: on a disk other than etcd's, or on a mounted share. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { rejectWhenAborted, timeoutSignal } from '../../lib/process/abortable.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { type Archive, damagedFile } from './archive.ts';

const timeoutMs = 60_000;
/** Opening a FIFO does not block, and links are not followed. */
const readFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

export class FolderArchive implements Archive {
  readonly location: string;
  readonly #folder: string;
  /** The operation that began last. The next operation waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
    this.location = `folder ${folder}`;
  }

  /**
   * Writes atomically: the content is on disk before the file gets its name. A missing folder is
   * not created: if a share is not mounted, the only copy of the sealed events would be on the
   * local disk.
   */
  async put(name: string, content: Buffer, signal: AbortSignal): Promise<void> {
    const file = join(this.#folder, name);
    await this.#inTurn(`${file} could not be written`, signal, async () => {
      await access(this.#folder);
      await mkdir(dirname(file), { recursive: true });
      const temporary = `${file}.${randomBytes(6).toString('hex')}.new`;
      await syncFile(temporary, 'wx', (handle) => handle.writeFile(content));
      await rename(temporary, file);
      await syncFile(dirname(file), 'r');
    });
  }

  /**
   * Treats a missing folder as an error, not as a missing file: the share may not be mounted, or
   * the path may be wrong.
   */
  get(name: string, maxBytes: number, signal: AbortSignal): Promise<Buffer | undefined> {
    const file = join(this.#folder, name);
    return this.#inTurn(`${file} could not be read`, signal, async () => {
      try {
        return await readRegularFile(file, maxBytes);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ELOOP' || code === 'ENXIO') throw notRegular(file);
        if (code !== 'ENOENT') throw error;
        await access(dirname(file));
        return undefined;
      }
    });
  }

  /**
   * Runs one operation at a time, with a time limit. An operation on a dead share never ends, and
   * blocks one of the four threads that Node uses for files and DNS. So a second one must not
   * start.
   */
  async #inTurn<Result>(failure: string, signal: AbortSignal, operation: () => Promise<Result>): Promise<Result> {
    const limit = timeoutSignal(timeoutMs, signal);
    const running = this.#last.then(() => {
      limit.throwIfAborted();
      return operation();
    });
    this.#last = running.catch(() => undefined);
    try {
      return await rejectWhenAborted(running, limit);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof IpledgerError) throw error;
      throw new IpledgerError('UNAVAILABLE', `the archive: ${failure}: ${(error as Error).message}`, { cause: error });
    }
  }
}

async function readRegularFile(file: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(file, readFlags);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw notRegular(file);
    if (stats.size > maxBytes) throw damagedFile(file, `it has ${stats.size} bytes, and ${maxBytes} is the limit`);
    // Reads a growing file only up to the size that it had when it was opened.
    const content = Buffer.alloc(stats.size);
    let length = 0;
    for (let read = -1; read !== 0 && length < content.length; length += read)
      read = (await handle.read(content, length, content.length - length, length)).bytesRead;
    return content.subarray(0, length);
  } finally {
    await handle.close();
  }
}

const notRegular = (file: string): IpledgerError => damagedFile(file, 'it is not a regular file');

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

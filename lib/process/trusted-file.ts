/** Reads small regular files that only root, or the program's own user, can write. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Whether an error comes from the system (a failing disk), not from a file's content. */
export const isSystemError = (error: unknown): boolean => typeof (error as NodeJS.ErrnoException).errno === 'number';

/**
 * Reads a text file that root or the agent's user owns.
 * @throws Error if another user owns the file, if it has more than `maxBytes`, or if it is not a
 * regular file; or the system's error
 */
export async function readTrustedFile(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    const { uid, size } = stats;
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
    if (uid !== 0 && uid !== process.geteuid?.())
      throw new Error(`${path} is owned by user ${uid}: only root's files are read`);
    if (size > maxBytes) throw new Error(`${path} has ${size} bytes; the limit is ${maxBytes}`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

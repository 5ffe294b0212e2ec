/** Files in the agent's folders: what another user wrote, what is too large and what is no plain file is not read. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Whether an error is the system's (too many open files, a failing disk): it says nothing of what a file holds. */
export const isSystemError = (error: unknown): boolean => typeof (error as NodeJS.ErrnoException).errno === 'number';

/**
 * Reads a text file that root owns, or the user that runs the agent.
 * @throws Error when it is another user's, larger than `mostBytes`, or no plain file; or the system's error
 */
export async function readOwnFile(path: string, mostBytes: number): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { uid, size, isPlain } = await file
      .stat()
      .then((stats) => ({ uid: stats.uid, size: stats.size, isPlain: stats.isFile() }));
    if (!isPlain) throw new Error(`${path} is no plain file`);
    if (uid !== 0 && uid !== process.geteuid?.())
      throw new Error(`${path} is owned by user ${uid}: only root's files are read`);
    if (size > mostBytes) throw new Error(`${path} has ${size} bytes, and may have ${mostBytes}`);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

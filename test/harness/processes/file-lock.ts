/** A lock between processes of this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Runs `work` while this process holds the lock of a file. A `flock` process holds the kernel lock
 * and ends when its stdin closes, so the lock is also released when this process is killed.
 * @param waiting called once if another process holds the lock.
 */
export async function withFileLock<T>(
  file: string,
  work: () => Promise<T>,
  waiting: () => void = () => undefined,
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // Ctrl-C must not reach it; it ends with this process
  });
  const ended = once(holder, 'exit');
  const slow = setTimeout(waiting, 1_000);
  try {
    const held: unknown = await Promise.race([once(holder.stdout, 'data'), ended.then(() => undefined)]);
    if (held === undefined) throw new Error(`flock ${file}: ended without the lock`);
    clearTimeout(slow);
    return await work();
  } finally {
    clearTimeout(slow);
    holder.stdin.end();
    await ended;
  }
}

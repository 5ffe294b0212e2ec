/** Turns among processes of this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Does `work` while no other process that uses the same file does. The lock is a kernel's lock held by a `flock` process
 * that ends when its stdin closes, so it is given back also when we are killed.
 * @param waiting called once when another process has it and we wait.
 */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  waiting: () => void = () => undefined,
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // Ctrl-C is for us; it ends when we do
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

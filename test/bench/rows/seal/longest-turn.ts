/**
 * A module to preload into a program. Writes the longest turn of its event loop into the file
 * LOOP_TURN_FILE, several times a second: milliseconds of CPU between two timers of 1 ms, so that
 * other work on the machine does not count. SIGUSR2 begins again.
 */
import { renameSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env['LOOP_TURN_FILE'] ?? '';
const writeEachMs = 200;

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

if (isMainThread && file !== '') {
  let [before, longest] = [cpuMs(), 0];
  process.on('SIGUSR2', () => void (longest = 0));
  setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  }, 1).unref();
  setInterval(() => {
    writeFileSync(`${file}.new`, String(longest));
    renameSync(`${file}.new`, file);
  }, writeEachMs).unref();
}

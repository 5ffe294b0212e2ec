/**
 * Test program that fills a cache, and drops it when idle. It ends when the garbage is collected
 * and the memory is returned, and prints the log line. Without --expose-gc it ends immediately.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { collectWhenIdle } from '../idle-collection.ts';

const returnedBytes = 50 * 2 ** 20;

const stop = new AbortController();
const keepAlive = setInterval(() => undefined, 1_000);
const finish = (): void => {
  clearInterval(keepAlive);
  stop.abort();
};
/** Waits, because V8 may return memory some time after the collection. */
const printWhenReturned = async (line: string): Promise<void> => {
  const { beforeMiB } = JSON.parse(line) as { beforeMiB: number };
  while (beforeMiB * 2 ** 20 - process.memoryUsage.rss() < returnedBytes) await sleep(50);
  process.stdout.write(line);
  finish();
};

const log = pino({ base: null, timestamp: false }, { write: (line: string) => void printWhenReturned(line) });
let cached: string[] = [];
collectWhenIdle({ onIdle: () => void (cached = []), log, signal: stop.signal, idleMs: 100 });
cached = Array.from({ length: 2_000_000 }, (_, index) => `garbage ${index}`);
if (cached.length === 0) process.exit(1);
if (!globalThis.gc) finish();

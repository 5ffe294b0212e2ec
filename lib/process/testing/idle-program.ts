/** Makes garbage, and is then idle. Prints the first collection, and ends; without --expose-gc it ends immediately. */
import { pino } from 'pino';
import { collectWhenIdle } from '../idle-collection.ts';

const stop = new AbortController();
const keepAlive = setInterval(() => undefined, 1_000);
const finish = (): void => {
  clearInterval(keepAlive);
  stop.abort();
};
const printAndFinish = (line: string): void => {
  process.stdout.write(line);
  finish();
};

const log = pino({ base: null, timestamp: false }, { write: printAndFinish });
collectWhenIdle({ log, signal: stop.signal, idleMs: 100 });
let garbage: string[] | undefined = Array.from({ length: 2_000_000 }, (_, index) => `garbage ${index}`);
if (garbage.length === 0) process.exit(1);
garbage = undefined;
if (!globalThis.gc) finish();

/**
 * A module to preload into a program: on SIGUSR2 it collects garbage and writes the size of the
 * live heap to a file.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mustDisableBufferPool, writeLiveHeap } from './heap.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options: { readonly flavor: 'last-resort' }) => void;

if (mustDisableBufferPool()) Buffer.poolSize = 0;

process.on('SIGUSR2', () => {
  // Other collections leave data of the start, for example bytecode, which would be gone at a later
  // reading
  collectGarbage({ flavor: 'last-resort' });
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  writeLiveHeap({ bytes: heapUsed + arrayBuffers, codeBytes: codeBytes() });
});

/**
 * Adds up the spaces in which V8 has compiled code and its tables. They hold no JavaScript value.
 */
function codeBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => /code|trusted/.test(name));
  return spaces.reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}

/**
 * A module to preload into a program: on SIGUSR2 it collects garbage and writes the size of the
 * live heap to a file.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { writeLiveHeap } from './heap.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options: { readonly flavor: 'last-resort' }) => void;

process.on('SIGUSR2', () => {
  // Other collections leave data of the start, for example bytecode, which would be gone at a later
  // reading
  collectGarbage({ flavor: 'last-resort' });
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  writeLiveHeap(heapUsed + arrayBuffers);
});

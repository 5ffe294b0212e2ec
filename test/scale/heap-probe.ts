/** Preloaded into a program: on SIGUSR2 it collects garbage and writes the size of the live heap to a file. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { writeLiveHeap } from './heap.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  writeLiveHeap(heapUsed + arrayBuffers);
});

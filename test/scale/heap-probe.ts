/** Loaded into a program beside its own code: on SIGUSR2 it collects garbage, and says what is left. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { answer } from './heap.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

process.on('SIGUSR2', () => {
  collect();
  answer(process.memoryUsage().heapUsed);
});

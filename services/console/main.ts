/**
 * The console: shows the ledger to people with a browser. It is optional, and has no data of its
 * own: it reads the allocators and the read model, and acts as the person who is signed in.
 */
import { createLogger } from '../../lib/process/log.ts';
import { runProgram } from '../../lib/process/lifecycle.ts';
import { parseOptions } from '../../lib/process/options.ts';
import { consoleOptions, type ConsoleOptions } from './options.ts';
import { startConsole } from './wiring.ts';

const options = parseOptions('console', 'shows addresses in space and time', consoleOptions()).opts<ConsoleOptions>();
const log = createLogger('console');

await runProgram(log, async (life) => {
  await startConsole({ options, env: process.env, log }, life);
});

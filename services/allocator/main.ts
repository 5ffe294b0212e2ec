/** The allocator: a replica of the ledger that serves the gRPC API, and writes the ledger while it is the leader. */
import { runProgram } from '../../lib/process/lifecycle.ts';
import { createLogger } from '../../lib/process/log.ts';
import { readOptions } from './options.ts';
import { startAllocator } from './wiring.ts';

const options = readOptions();
const log = createLogger('allocator');

await runProgram(log, (life) => startAllocator(options, log, life));

/** A registry of images on loopback. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from './processes/free-ports.ts';
import { probeHttp } from './processes/readiness-probes.ts';
import { startServer } from './processes/server.ts';
import { findProgram } from './programs/find-program.ts';
import type { Run } from './run.ts';

/** Starts an empty registry. Returns its port at 127.0.0.1. */
export async function startRegistry(run: Run): Promise<number> {
  const port = await findFreePort();
  const host = `127.0.0.1:${port}`;
  const disk = join(run.folder, 'registry');
  mkdirSync(disk);
  await startServer(run, {
    name: 'registry',
    program: await findProgram('crane'),
    args: ['registry', 'serve', '--address', host, '--disk', disk],
    readyWithinMs: 30_000,
    ready: (signal) => probeHttp(`http://${host}/v2/`, signal),
  });
  return port;
}

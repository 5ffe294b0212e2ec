/** The environment of the demo: its servers, a terminal that reaches them, and the cleanup. */
import { join } from 'node:path';
import { type Capability, probeMacvlan } from '../../test/harness/network/network-namespaces.ts';
import { cacheFolder } from '../../test/harness/paths.ts';
import { findPrograms } from '../../test/harness/programs/find-program.ts';
import { openRun, type Run } from '../../test/harness/run.ts';
import { demoTools } from '../up/client-access.ts';
import { listPrograms } from '../up/start.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** A folder beside that of `make up`: the demo does not change an operator's ledger. */
export const demoFolder = join(cacheFolder, 'demo');

export interface DemoEnvironment {
  readonly terminal: Terminal;
  readonly run: Run;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether this machine can create interfaces for Pods. */
  readonly macvlan: Capability;
}

/** Finds or builds all programs first, which may take minutes: no later step waits for a build. */
export async function openDemoEnvironment(signal: AbortSignal): Promise<DemoEnvironment> {
  await findPrograms(listPrograms(demoTools, true), signal);
  const macvlan = await probeMacvlan();
  const run = openRun();
  // The servers run in the background: if the demo is killed, the janitor stops them
  run.cleanUpWith([process.execPath, join(import.meta.dirname, 'stop-servers.ts'), demoFolder]);
  // cnitool keeps the results of ADD in files until DEL
  const removeResults = 'grep -ls "$0" /var/lib/cni/results/* | xargs -r rm -f';
  run.cleanUpWith(['sh', '-c', removeResults, `/ipledger-${run.id}-`]);
  const terminal = openTerminal(join(run.folder, 'kubectl-cache'), signal);
  return { terminal, run, signal, macvlan };
}

/**
 * Starts OVN's central part: the northbound and the southbound database, and northd, which
 * translates one into the other.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Server, startServer } from '../processes/server.ts';
import type { Run } from '../run.ts';
import { ovnLaunch, runOvn } from './ovn-programs.ts';
import { type OvsdbServer, startOvsdbServer } from './ovsdb-server.ts';

/** The time limit of each command, in seconds. */
export const commandTimeout = '--timeout=60';

export interface OvnCentral {
  readonly northbound: OvsdbServer;
  readonly southbound: OvsdbServer;
  readonly northd: Server;
  /** Runs ovn-nbctl. Returns its stdout. */
  nbctl(args: readonly string[]): Promise<string>;
  /** Runs ovn-sbctl. Returns its stdout. */
  sbctl(args: readonly string[]): Promise<string>;
}

/** Starts the three servers. Resolves when northd is active. */
export async function startOvnCentral(run: Run): Promise<OvnCentral> {
  const folder = join(run.folder, 'central');
  mkdirSync(folder);
  const [northbound, southbound] = await Promise.all([
    startOvsdbServer(run, { name: 'nb', schema: 'northbound', folder }),
    startOvsdbServer(run, { name: 'sb', schema: 'southbound', folder }),
  ]);
  const control = join(folder, 'northd.ctl');
  const launch = ovnLaunch({
    name: 'northd',
    program: 'ovn-northd',
    args: [`--unixctl=${control}`, `--ovnnb-db=${northbound.unix}`, `--ovnsb-db=${southbound.unix}`],
    runFolder: folder,
    ready: async () => {
      const status = await runOvn(folder, 'ovn-appctl', ['-t', control, 'status']);
      if (!status.includes('active')) throw new Error(`northd: ${status}`);
    },
  });
  const northd = await startServer(run, launch);
  return {
    northbound,
    southbound,
    northd,
    nbctl: (args) => runOvn(folder, 'ovn-nbctl', [`--db=${northbound.unix}`, commandTimeout, ...args]),
    sbctl: (args) => runOvn(folder, 'ovn-sbctl', [`--db=${southbound.unix}`, commandTimeout, ...args]),
  };
}

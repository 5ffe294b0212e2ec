/** Writes the files for another terminal: the env file, links to programs, CNI configurations. */
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cniPath } from '../../test/harness/cni.ts';
import { root } from '../../test/harness/paths.ts';
import { findProgram } from '../../test/harness/programs/find-program.ts';
import type { ProgramName } from '../../test/harness/programs/program-catalog.ts';
import { quoteForShell } from '../../test/harness/run.ts';
import { formatEnvFile, type EnvFileContents } from './env-file.ts';
import { daemonSocket, writeNetworkConfigurations } from './network-configurations.ts';
import { writeFileAtomically } from './state.ts';

const manifests = join(root, 'test', 'manifests', 'manage-multiple-interface');

/** The programs that the demo's commands use. */
export const demoTools = ['etcdctl', 'cnitool', 'kubectl'] as const;
/** The programs that a terminal gets from `make up`. */
export const terminalTools = [...demoTools, 'grpcurl'] as const;

export interface ClientAccess {
  readonly folder: string;
  /** Programs to add to PATH, besides the CLI. */
  readonly tools: readonly ProgramName[];
  readonly kubeconfig: string;
  readonly etcd: Readonly<Record<string, string>>;
  readonly allocator: string;
  readonly readModel: string;
  /** "host:port" of /metrics of each program. */
  readonly metrics: readonly string[];
  readonly tls: Readonly<Record<string, string>>;
  /** The sockets of each agent. */
  readonly agents: readonly (readonly [string, ...string[]])[];
}

/** Writes all files. Returns the contents of the env file. */
export async function writeClientAccess({
  folder,
  tools,
  kubeconfig,
  etcd,
  allocator,
  readModel,
  metrics,
  tls,
  agents,
}: ClientAccess): Promise<EnvFileContents> {
  const programs = join(folder, 'bin');
  const netConfPath = join(folder, 'net.d');
  const sockets = agents.map(([own]) => own);
  const served = agents[0]?.includes(daemonSocket) === true ? daemonSocket : (sockets[0] ?? daemonSocket);
  await linkPrograms(programs, tools);
  rmSync(netConfPath, { recursive: true, force: true });
  writeNetworkConfigurations(manifests, netConfPath, served);
  const exports = {
    kubeconfig,
    etcd,
    allocator,
    readModel,
    metrics,
    tls,
    sockets,
    cniPath: await cniPath(),
    netConfPath,
    programs,
  };
  writeFileAtomically(join(folder, 'env'), formatEnvFile(exports));
  return exports;
}

/** Links the programs into one folder, so that PATH gets only these. */
async function linkPrograms(folder: string, tools: readonly ProgramName[]): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of tools) symlinkSync(await findProgram(name), join(folder, name));
  const tool = join(folder, 'ipledger');
  writeFileAtomically(tool, `#!/bin/sh\nexec ${quoteForShell(join(root, 'cli', 'ipledger'))} "$@"\n`);
  chmodSync(tool, 0o755);
  symlinkSync(join(root, 'cli', 'kubectl-ipledger'), join(folder, 'kubectl-ipledger'));
}

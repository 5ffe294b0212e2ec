/** What lets another terminal use what runs: the env file, a folder of programs, the CNI configurations. */
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cniPath } from '../cni.ts';
import { root } from '../paths.ts';
import { findProgram } from '../programs.ts';
import { quote } from '../run.ts';
import { envFile, type Exports } from './env-file.ts';
import { daemonSocket, writeNetworkConfigurations } from './network-configurations.ts';
import { writeWhole } from './state.ts';

const manifests = join(root, 'test', 'manifests', 'manage-multiple-interface');
const linked = ['etcdctl', 'cnitool', 'kubectl', 'grpcurl'] as const;

export interface Reach {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly etcd: Readonly<Record<string, string>>;
  readonly allocator: string;
  readonly index: string;
  readonly tls: Readonly<Record<string, string>>;
  /** The sockets of each agent. */
  readonly agents: readonly (readonly [string, ...string[]])[];
}

/** Writes all of it; gives what the env file says. */
export async function writeReach({ folder, kubeconfig, etcd, allocator, index, tls, agents }: Reach): Promise<Exports> {
  const programs = join(folder, 'bin');
  const netConfPath = join(folder, 'net.d');
  const sockets = agents.map(([own]) => own);
  const served = agents[0]?.includes(daemonSocket) === true ? daemonSocket : (sockets[0] ?? daemonSocket);
  await linkPrograms(programs);
  rmSync(netConfPath, { recursive: true, force: true });
  writeNetworkConfigurations(manifests, netConfPath, served);
  const exports = { kubeconfig, etcd, allocator, index, tls, sockets, cniPath: await cniPath(), netConfPath, programs };
  writeWhole(join(folder, 'env'), envFile(exports));
  return exports;
}

/** Links, not their folders: PATH gets exactly these programs from us. */
async function linkPrograms(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of linked) symlinkSync(await findProgram(name), join(folder, name));
  const tool = join(folder, 'ipledger');
  writeWhole(tool, `#!/bin/sh\nexec ${quote(join(root, 'cli', 'ipledger'))} "$@"\n`);
  chmodSync(tool, 0o755);
  symlinkSync(join(root, 'cli', 'kubectl-ipledger'), join(folder, 'kubectl-ipledger'));
}

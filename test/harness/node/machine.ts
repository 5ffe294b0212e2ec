/**
 * The machine of a node: its own mount, UTS, network and PID namespaces, with the paths that
 * plugins, runtimes and kubelets expect. An overlay holds its writes to /etc, /opt, /var/lib and
 * /var/log. Each boot has an empty /run and a new boot id.
 *
 * A power cut is the end of process 1: the kernel kills all processes in the PID namespace, with
 * containers and shims, and the mounts end with them. The disk, a folder, stays. The same happens
 * when the test process is killed.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandOptions, type CommandResult, runCommand } from '../processes/command.ts';
import type { Launch } from '../processes/launch.ts';
import { createNodeNamespace, type Namespace, removeNamespace } from '../network/network-namespaces.ts';
import type { Run } from '../run.ts';
import { startServer } from '../processes/server.ts';
import { createCgroup, removeCgroup } from './cgroup.ts';

const init = join(import.meta.dirname, 'init');

/** The state that survives a reboot. */
export interface MachineState {
  readonly name: string;
  /** Folder of the disk and the configuration files. */
  readonly folder: string;
  /** Name of the cgroup of its Pods, in each hierarchy. */
  readonly cgroup: string;
}

export interface Machine {
  readonly network: Namespace;
  /** Changes a launch so that the server runs inside. */
  inside(launch: Launch): Launch;
  /** Runs a program inside until it ends. */
  run(command: readonly [string, ...string[]], options?: CommandOptions): Promise<CommandResult>;
  /** The path of a file of the node from outside, while the power is on. */
  path(file: string): string;
  /** Kills all processes without a shutdown. Resolves when all of this boot is removed. */
  powerCut(): Promise<void>;
}

/** Creates the state before the first boot: an empty disk. */
export function createMachineState(run: Run, name: string): MachineState {
  const state = { name, folder: join(run.folder, name), cgroup: `ipledger-${run.id}-${name}` };
  wipeDisk(state);
  return state;
}

/** Replaces the disk by an empty disk, while the power is off. */
export function wipeDisk({ folder }: MachineState): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
}

/** The folder on the disk that the node sees at `path`, for writes while the power is off. */
export function diskPath({ folder }: MachineState, path: string): string {
  return join(folder, 'disk', path);
}

/**
 * Boots the machine. It ends with the run. Its NICs are `eth0`, and `eth1` for Pods.
 * @param moreNics names of further NICs
 */
export async function bootMachine(run: Run, state: MachineState, moreNics: readonly string[] = []): Promise<Machine> {
  const { name, folder, cgroup } = state;
  createCgroup(run, cgroup);
  const network = await createNodeNamespace(run, name, ['eth0', 'eth1', ...moreNics]);
  const booted = join(folder, 'booted');
  rmSync(booted, { force: true });
  const unshare = ['unshare', '--mount', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const power = await startServer(run, {
    name,
    program: 'nsenter',
    args: [`--net=${network.path}`, ...unshare, 'sh', init, name, folder],
    waitsForChild: true,
    ready: async () => {
      await access(booted);
    },
    readyWithinMs: 30_000,
  });
  const { pid } = power;
  const enter = ['--target', String(pid), '--mount', '--uts', '--net', '--pid'];
  return {
    network,
    inside: (launch) => ({
      ...launch,
      program: 'nsenter',
      args: [...enter, launch.program, ...launch.args],
      waitsForChild: true,
    }),
    run: ([program, ...args], options) =>
      runCommand('nsenter', [...enter, 'setpriv', '--pdeathsig', 'KILL', program, ...args], options),
    path: (file) => `/proc/${pid}/root${file}`,
    async powerCut() {
      await power.kill();
      await Promise.all([removeNamespace(network), removeCgroup(cgroup)]);
    },
  };
}

/** Sends a GET inside the machine. @throws Error unless the status is a success */
export async function probeInside(machine: Machine, url: string, signal: AbortSignal): Promise<void> {
  const { code, stderr } = await machine.run(['curl', '--silent', '--show-error', '--fail', url], { signal });
  if (code !== 0) throw new Error(stderr.trim());
}

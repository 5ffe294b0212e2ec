/**
 * A node as a machine: namespaces of its own (mount, UTS, network, PID), in which the paths that plugins, runtimes and
 * kubelets expect are its own, too. It writes to /etc, /opt, /var/lib and /var/log on top of the machine's; /run is
 * empty at each boot, and each boot has another boot id.
 *
 * Power is the life of its process 1: when that is killed, the kernel kills everything in the PID namespace, containers
 * and their shims, too, and the mounts go with the last of them. The disk, a folder, stays. All this also happens when we
 * are killed.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandOptions, type CommandResult, runCommand } from '../command.ts';
import type { Launch } from '../launch.ts';
import { createNode, type Namespace, removeNamespace } from '../network.ts';
import type { Run } from '../run.ts';
import { startServer } from '../server.ts';
import { createCgroup, removeCgroup } from './cgroup.ts';

const init = join(import.meta.dirname, 'init');

/** What lasts from boot to boot. */
export interface Body {
  readonly name: string;
  /** Where everything of it is kept. */
  readonly folder: string;
  /** For its Pods; in each hierarchy of the machine. */
  readonly cgroup: string;
}

export interface Machine {
  readonly network: Namespace;
  /** How a server is started inside. */
  inside(launch: Launch): Launch;
  /** Runs a program inside to its end. */
  run(command: readonly [string, ...string[]], options?: CommandOptions): Promise<CommandResult>;
  /** Where a file of the node is for us, while the power is on. */
  path(file: string): string;
  /** Everything in it ends at once, and is told nothing; resolves when nothing of this boot is left. */
  powerCut(): Promise<void>;
}

/** What a machine has before its first boot: an empty disk. */
export function newBody(run: Run, name: string): Body {
  const body = { name, folder: join(run.folder, name), cgroup: `ipledger-${run.id}-${name}` };
  emptyDisk(body);
  return body;
}

/** Puts a new disk in; for while the power is off. */
export function emptyDisk({ folder }: Body): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
}

/** A place on the disk, which the node has at `path`; for writing while the power is off. */
export function onDisk({ folder }: Body, path: string): string {
  return join(folder, 'disk', path);
}

/** Switches the power on; ends with the run. NICs: `eth0`, and `eth1` for the Pods. */
export async function boot(run: Run, body: Body): Promise<Machine> {
  const { name, folder, cgroup } = body;
  createCgroup(run, cgroup);
  const network = await createNode(run, name, ['eth0', 'eth1']);
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

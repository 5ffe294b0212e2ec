/**
 * Three machines on one network. Each has a member of etcd and an allocator, which the test reaches
 * at a port of its own loopback, also when no packet leaves the machine.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createNodeNamespace,
  inNamespace,
  ip,
  launchInside,
  type Namespace,
} from '../harness/network/network-namespaces.ts';
import { exposePort } from '../harness/node/port-exposure.ts';
import { mustRun } from '../harness/processes/command.ts';
import { findFreePort } from '../harness/processes/free-ports.ts';
import type { Launch } from '../harness/processes/launch.ts';
import { type Server, startServer } from '../harness/processes/server.ts';
import { findProgram } from '../harness/programs/find-program.ts';
import type { Run } from '../harness/run.ts';
import { allocatorLaunch } from '../harness/services.ts';

const size = 3;
/** The size of the disk: space for two segments of the log of etcd, and for its database. */
const diskMiB = 192;
const readyWithinMs = 120_000;

/** A version of the allocator; by default that of this tree. */
export interface Program {
  /** A module to load before the main module. */
  readonly preload?: string;
  /** The main module of the version. */
  readonly main?: string;
}

export interface Machine {
  readonly index: number;
  /** The address of the machine on the network. */
  readonly address: string;
  readonly node: Namespace;
  /** Folder of the data of etcd: a file system of its own. */
  readonly disk: string;
  /** "127.0.0.1:<port>" */
  readonly endpoint: string;
  /** The allocator, which another version may replace. */
  allocator: Server;
  /** The member, which a new member may replace. */
  etcd: Server;
  /** Sets the clock of the allocator ahead. */
  shiftClock(ms: number): void;
}

export interface Machines {
  readonly all: readonly Machine[];
  /** Runs etcdctl on a machine, at the member there unless `args` names endpoints. */
  etcdctl(machine: Machine, ...args: string[]): Promise<string>;
  /** Stops the allocator, and starts another version at the same port. */
  changeProgram(machine: Machine, program: Program): Promise<void>;
  /** Starts an empty member in place of a killed member. Can be repeated after an error. */
  replaceMember(machine: Machine, by: Machine): Promise<void>;
}

const addressOf = (index: number): string => `10.88.0.${index + 1}`;
const peerOf = (index: number): string => `http://${addressOf(index)}:2380`;
const nameOf = (index: number): string => `etcd-${index}`;
const indexes = Array.from({ length: size }, (_, index) => index);

/** Starts all machines, which end with the run. */
export async function startMachines(run: Run, program: Program = {}): Promise<Machines> {
  const places: Pick<Machine, 'index' | 'address' | 'node' | 'disk'>[] = [];
  for (const index of indexes) {
    const node = await createNodeNamespace(run, `machine-${index}`);
    await ip(node, ['address', 'add', `${addressOf(index)}/24`, 'dev', 'eth0']);
    places.push({ index, address: addressOf(index), node, disk: await createDisk(run, nameOf(index)) });
  }
  const members = await Promise.all(places.map((place) => startMember(run, place, 'new')));
  const all = await Promise.all(
    places.map(async (place, index): Promise<Machine> => {
      const port = await findFreePort();
      await exposePort(run, place.node, port);
      const endpoint = `127.0.0.1:${port}`;
      const reached = { ...place, endpoint };
      const machine: Machine = {
        ...reached,
        etcd: members[index] as Server,
        allocator: await startAllocator(run, reached, program),
        shiftClock(ms) {
          writeFileSync(shiftFileOf(run, index), String(ms));
          if (machine.allocator.isAlive) process.kill(machine.allocator.pid, 'SIGUSR2');
        },
      };
      return machine;
    }),
  );
  const etcdctl = async ({ node, address }: Machine, ...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await inNamespace(node, [
      await findProgram('etcdctl'),
      `--endpoints=http://${address}:2379`,
      ...args,
    ]);
    if (code !== 0) throw new Error(`etcdctl ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  return {
    all,
    etcdctl,
    async changeProgram(machine, to) {
      await machine.allocator.stop();
      machine.allocator = await startAllocator(run, machine, to);
    },
    async replaceMember(machine, by) {
      // The format is "8211f1d0f64f3269, started, etcd-0, http://10.88.0.1:2380, …"
      const known = (await etcdctl(by, 'member', 'list')).split('\n').map((line) => line.split(', '));
      const [id] = known.find(([, , , peer]) => peer === peerOf(machine.index)) ?? [];
      if (id !== undefined) await etcdctl(by, 'member', 'remove', id);
      await etcdctl(by, 'member', 'add', nameOf(machine.index), `--peer-urls=${peerOf(machine.index)}`);
      rmSync(join(machine.disk, 'data'), { recursive: true, force: true });
      machine.etcd = await startMember(run, machine, 'existing');
    },
  };
}

async function createDisk(run: Run, name: string): Promise<string> {
  const disk = join(run.folder, `disk-of-${name}`);
  mkdirSync(disk);
  run.cleanUpWith(['umount', '--lazy', disk]);
  await mustRun('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m`, 'tmpfs', disk]);
  return disk;
}

type Place = Pick<Machine, 'index' | 'address' | 'node' | 'disk'>;

async function startMember(run: Run, { index, address, node, disk }: Place, state: string): Promise<Server> {
  const client = `http://${address}:2379`;
  const [program, etcdctl] = await Promise.all([findProgram('etcd'), findProgram('etcdctl')]);
  const launch: Launch = {
    name: nameOf(index),
    program,
    args: [
      `--name=${nameOf(index)}`,
      `--data-dir=${join(disk, 'data')}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peerOf(index)}`,
      `--initial-advertise-peer-urls=${peerOf(index)}`,
      `--initial-cluster=${indexes.map((each) => `${nameOf(each)}=${peerOf(each)}`).join(',')}`,
      `--initial-cluster-state=${state}`,
      '--log-level=warn',
      '--unsafe-no-fsync',
    ],
    // A new member waits for the other members, so its answer is not required, only that it runs
    ready: async (signal) => {
      const { code, stderr } = await inNamespace(node, [etcdctl, `--endpoints=${client}`, 'endpoint', 'health'], {
        signal,
      });
      if (code !== 0) throw new Error(stderr);
    },
    readyWithinMs,
  };
  return startServer(run, launchInside(node, launch));
}

const shiftFileOf = (run: Run, index: number): string => join(run.folder, `clock-of-allocator-${index}`);

async function startAllocator(
  run: Run,
  { index, address, node, endpoint }: Place & Pick<Machine, 'endpoint'>,
  { preload, main }: Program,
): Promise<Server> {
  const port = endpoint.slice(endpoint.indexOf(':') + 1);
  const etcd = indexes.map((each) => `http://${addressOf(each)}:2379`);
  const launch = allocatorLaunch({ name: `allocator-${index}`, etcd, listen: `0.0.0.0:${port}`, endpoint });
  const preloads = [join(import.meta.dirname, 'shifted-clock.ts'), preload].filter((file) => file !== undefined);
  return startServer(
    run,
    launchInside(node, {
      ...launch,
      args: [...preloads.flatMap((file) => ['--import', file]), ...(main ? [main] : launch.args)],
      env: {
        ...launch.env,
        IPLEDGER_ADVERTISE: `${address}:${port}`,
        IPLEDGER_INSECURE: '1',
        CLOCK_SHIFT_FILE: shiftFileOf(run, index),
      },
    }),
  );
}

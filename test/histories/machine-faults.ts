/** The faults of a history: each begins on random machines, and ends before the next fault. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../e2e/support/eventually.ts';
import type { SeededRandom } from '../faults/seeded-random.ts';
import { dropPackets, losePackets, passPackets } from '../harness/network/network-namespaces.ts';
import type { Server } from '../harness/processes/server.ts';
import type { Machine, Machines } from './machines.ts';

/** The machines of a fault: `machine` suffers it; `other` is another machine. */
interface Victims {
  readonly machine: Machine;
  readonly other: Machine;
  readonly random: SeededRandom;
}

interface Fault {
  begin(victims: Victims, machines: Machines): unknown;
  /** Ends the fault; absent for a fault that has no end. */
  end?(victims: Victims, machines: Machines): unknown;
}

const ofNetwork = (begin: Fault['begin']): Fault => ({ begin, end: ({ machine }) => passPackets(machine.node) });
const ofServer = (serverOf: (machine: Machine) => Server): Record<'killed' | 'paused', Fault> => ({
  killed: {
    begin: ({ machine }) => serverOf(machine).kill(),
    end: ({ machine }) => serverOf(machine).start(),
  },
  paused: {
    begin: ({ machine }) => serverOf(machine).freeze(),
    end: ({ machine }) => serverOf(machine).resume(),
  },
});
const allocator = ofServer((machine) => machine.allocator);
const etcd = ofServer((machine) => machine.etcd);
const lossPercent = 50;

/** The faults by name, for the log of a run. */
export const machineFaults: Readonly<Record<string, Fault>> = {
  'the allocator is killed': allocator.killed,
  'the allocator is paused': allocator.paused,
  'the member of etcd is killed': etcd.killed,
  'the member of etcd is paused': etcd.paused,
  'the machine loses power': {
    begin: ({ machine }) => Promise.all([machine.allocator.kill(), machine.etcd.kill()]),
    end: ({ machine }) => Promise.all([machine.allocator.start(), machine.etcd.start()]),
  },
  'all packets of the machine are dropped': ofNetwork(({ machine }) => dropPackets(machine.node)),
  'the machine receives no packets': ofNetwork(({ machine }) => dropPackets(machine.node, 'eth0', ['input'])),
  'the machine sends no packets': ofNetwork(({ machine }) => dropPackets(machine.node, 'eth0', ['output'])),
  'the machine is slow: half of its packets are lost': ofNetwork(({ machine }) =>
    losePackets(machine.node, { percent: lossPercent }),
  ),
  'two machines do not reach each other': ofNetwork(({ machine, other }) =>
    losePackets(machine.node, { percent: 100, with: other.address }),
  ),
  'the leader of etcd moves': { begin: (_, machines) => eventually(() => moveLeader(machines)) },
  'the member of etcd is replaced by an empty one': {
    begin: replaceMember,
  },
  'the disk of the member of etcd is full': { begin: fillDisk, end: emptyDisk },
  'etcd is compacted and defragmented': {
    begin: ({ machine }, machines) => eventually(() => compact(machine, machines)),
  },
  'the clock of the machine is an hour ahead': {
    begin: ({ machine }) => machine.shiftClock(3_600_000),
    end: ({ machine }) => machine.shiftClock(0),
  },
  'the clock of the machine is an hour behind': {
    begin: ({ machine }) => machine.shiftClock(-3_600_000),
    end: ({ machine }) => machine.shiftClock(0),
  },
};

const maxQuietMs = 600;
/** Durations that are shorter and longer than the lease of the writer, which is 5 s. */
const durationsMs = [300, 1_500, 3_000, 7_000];

/** Causes faults one after the other until `isOver`, each kind once before any kind is repeated. */
export async function causeFaults(
  machines: Machines,
  random: SeededRandom,
  { isOver, note }: { readonly isOver: () => boolean; readonly note: (what: string) => void },
): Promise<void> {
  let kinds: string[] = [];
  while (!isOver()) {
    if (kinds.length === 0) kinds = random.shuffle(Object.keys(machineFaults));
    const kind = kinds.pop() as string;
    const fault = machineFaults[kind] as Fault;
    const [machine, other] = await chooseVictims(machines, random);
    const victims = { machine, other, random };
    note(`machine ${machine.index}: ${kind}`);
    await fault.begin(victims, machines);
    if (fault.end) {
      await sleep(random.nextInt(random.pick(durationsMs)));
      await fault.end(victims, machines);
      note(`machine ${machine.index}: over`);
    }
    await sleep(random.nextInt(maxQuietMs));
  }
}

/** Chooses two machines. The first is mostly that of the writer. */
async function chooseVictims({ all, etcdctl }: Machines, random: SeededRandom): Promise<[Machine, Machine]> {
  const shuffled = random.shuffle(all);
  const key = await etcdctl(
    shuffled[0] as Machine,
    'get',
    '--print-value-only',
    '--command-timeout=1s',
    '/ipledger/v1/writer',
  ).catch(() => '');
  const writer = random.nextBoolean(0.6) ? all.find(({ allocator: { name } }) => key.includes(`"${name}"`)) : undefined;
  const [first, second] = writer ? [writer, ...shuffled.filter((each) => each !== writer)] : shuffled;
  return [first as Machine, second as Machine];
}

async function moveLeader(machines: Machines): Promise<void> {
  const statuses = await Promise.all(
    machines.all.map(async (machine) => {
      // The format is "…:2379, 8211f1d0f64f3269, 3.6.4, 3.6.0, 20 kB, …, true, …"
      const fields = (await machines.etcdctl(machine, 'endpoint', 'status')).split(', ');
      return { machine, id: fields[1] ?? '', isLeader: fields.includes('true') };
    }),
  );
  const leader = statuses.find(({ isLeader }) => isLeader);
  const next = statuses.find(({ isLeader }) => !isLeader);
  if (leader && next) await machines.etcdctl(leader.machine, 'move-leader', next.id);
}

async function compact(machine: Machine, machines: Machines): Promise<void> {
  const [{ Status: status }] = JSON.parse(await machines.etcdctl(machine, 'endpoint', 'status', '-w=json')) as [
    { readonly Status: { readonly header: { readonly revision: number } } },
  ];
  await machines.etcdctl(machine, 'compact', String(status.header.revision));
  await machines.etcdctl(machine, 'defrag');
}

const fillerOf = ({ disk }: Machine): string => join(disk, 'filler');

function fillDisk({ machine }: Victims): void {
  const file = openSync(fillerOf(machine), 'w');
  const bytes = Buffer.alloc(1 << 20);
  try {
    for (;;) writeSync(file, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

/** Ends a full disk. The member ends at a write that fails, perhaps after this has begun. */
async function emptyDisk({ machine }: Victims, machines: Machines): Promise<void> {
  rmSync(fillerOf(machine));
  await eventually(async () => {
    if (!machine.etcd.isAlive) await machine.etcd.start();
    await machines.etcdctl(machine, 'endpoint', 'health');
  });
}

async function replaceMember({ machine, other }: Victims, machines: Machines): Promise<void> {
  // The other members must have a quorum without this member
  const others = machines.all.filter((each) => each !== machine);
  for (const each of others) await eventually(() => machines.etcdctl(each, 'endpoint', 'health'));
  await machine.etcd.kill();
  // The other members notice the end some time later, so replacement is repeated
  await eventually(() => machines.replaceMember(machine, other));
}

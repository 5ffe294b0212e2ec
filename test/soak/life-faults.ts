/** The faults and changes of the life of a cluster, by hour: the same each twelve hours. */
import { writeFileSync } from 'node:fs';
import { eventually } from '../e2e/support/eventually.ts';
import { isWatching } from '../e2e/support/pod-watcher.ts';
import { type FaultEnvironment, renewCertificates } from '../faults/fault-environment.ts';
import { withOutageDuring } from '../faults/outage.ts';
import type { Server } from '../harness/processes/server.ts';
import type { AllocatorServer } from '../harness/services.ts';
import { type ClusterLife, drainedNodes } from './cluster-life.ts';

const failoverMs = 120_000;

export interface Fault {
  readonly name: string;
  /** Whether it happens beside the Pods of its hour, or after them. */
  readonly isBesidePods: boolean;
  readonly inject: () => Promise<unknown>;
}

/** The faults of an hour since the start. */
export function faultsOf(hour: number, environment: FaultEnvironment, life: ClusterLife): Fault[] {
  const { allocators, watchers, stack, kubernetes } = environment;
  const { agents, etcd, cluster } = stack;
  const beside = (name: string, inject: Fault['inject']): Fault => ({ name, isBesidePods: true, inject });
  const after = (name: string, inject: Fault['inject']): Fault => ({ name, isBesidePods: false, inject });
  const upgraded = drainedNodes(hour, agents.length).filter(isRestarted);
  const excludeIps = hour % 24 === 3 ? ['10.16.0.100..10.16.0.109'] : [];
  const failOvers = {
    writer: beside('another writer', () => failOver(allocators, isWriter)),
    watcher: beside('another active pod-watcher', () => failOver(watchers, isWatching)),
  };
  // Each fault happens once in the first six hours, the warm-up of a day
  const faults: readonly (Fault | undefined)[] = [
    failOvers.writer,
    failOvers.watcher,
    beside('kill -9 of etcd', () => etcd.restart()),
    beside('Subnet lan is edited', () => kubernetes.patch('Subnet', 'lan', { spec: { excludeIps } })),
    beside('all certificates are renewed', () => renewCertificates(environment)),
    after('kill -9 of the API server', () => cluster.apiServer.restart()),
    failOvers.writer,
    failOvers.watcher,
    after('power loss of a node', () => powerCycle(hour, environment, life)),
  ];
  const fault = faults[hour % 12];
  return [
    ...(fault ? [fault] : []),
    ...upgraded.map((index) =>
      beside(`agent of node ${index} is upgraded`, async () => {
        await agents[index]?.stop();
        await agents[index]?.start();
      }),
    ),
  ];
}

/** The agents of odd nodes are never restarted, so that their life is as long as the run. */
const isRestarted = (index: number): boolean => index % 2 === 0;

/**
 * The leader stops leading. The first process is frozen and goes on afterwards, so that its life
 * is as long as the run; the second one is killed.
 */
async function failOver<Program extends Server>(
  [first, second]: readonly Program[],
  isLeader: (program: Program) => Promise<boolean>,
): Promise<void> {
  if (!first || !second) throw new Error('a failover needs two programs');
  const leads = (program: Program): Promise<void> =>
    eventually(async () => {
      if (!(await isLeader(program))) throw new Error(`${program.name} does not lead`);
    }, failoverMs);
  if (await isLeader(first)) await withOutageDuring([first], 'frozen', () => leads(second));
  else await withOutageDuring([second], 'killed', () => leads(first));
}

export async function isWriter({ health }: AllocatorServer): Promise<boolean> {
  try {
    const answer = await fetch(`http://${health}/metrics`, { signal: AbortSignal.timeout(2_000) });
    return /^ipledger_is_leader 1$/m.test(await answer.text());
  } catch {
    return false;
  }
}

async function powerCycle(hour: number, { stack }: FaultEnvironment, life: ClusterLife): Promise<void> {
  const restarted = stack.agents.map((_, index) => index).filter(isRestarted);
  const index = restarted[Math.floor(hour / 12) % restarted.length];
  const agent = stack.agents[index ?? -1];
  if (index === undefined || !agent) throw new Error('there is no node whose agent may be restarted');
  await life.rebootNode(index, async () => {
    await agent.kill();
    writeFileSync(agent.bootIdFile, `boot-of-hour-${hour}\n`);
    await agent.start();
  });
}

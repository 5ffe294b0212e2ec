/** The faults in the life of two real nodes, by turn. */
import type { NodeEnvironment } from '../node/node-environment.ts';
import { killSandbox } from '../node/sandboxes.ts';
import { sandboxOf, type WorkloadPod } from '../node/workloads.ts';

export interface NodeFault {
  readonly name: string;
  readonly everyTurns: number;
  /** The first turn. No two faults meet in a turn. */
  readonly at: number;
  readonly inject: (environment: NodeEnvironment, web: readonly WorkloadPod[]) => Promise<unknown>;
}

/** The agent of the first node is never restarted: its life is as long as the run. */
export const nodeFaults: readonly NodeFault[] = [
  {
    name: 'the sandbox of a Pod was killed',
    everyTurns: 4,
    at: 1,
    inject: async (environment, [first]) => first && killSandbox(sandboxOf(environment, first)),
  },
  { name: 'the agent of node-b was restarted', everyTurns: 10, at: 2, inject: ({ b }) => b.agent.restart() },
  { name: 'the kubelet of node-b was killed', everyTurns: 10, at: 4, inject: ({ b }) => b.kubelet.restart() },
  { name: 'containerd of node-a was killed', everyTurns: 10, at: 6, inject: ({ a }) => a.containerd.restart() },
  { name: 'etcd was killed', everyTurns: 20, at: 8, inject: ({ stack }) => stack.etcd.restart() },
  {
    name: 'the API server was killed',
    everyTurns: 20,
    at: 18,
    inject: ({ stack }) => stack.cluster.apiServer.restart(),
  },
  {
    name: 'node-b lost power',
    everyTurns: 30,
    at: 10,
    inject: async ({ b }) => {
      await b.powerCut();
      await b.boot();
    },
  },
];

/** Returns the faults of a turn, counted from 0. */
export const faultsOfTurn = (turn: number): readonly NodeFault[] =>
  nodeFaults.filter(({ everyTurns, at }) => turn >= at && (turn - at) % everyTurns === 0);

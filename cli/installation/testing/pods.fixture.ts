/** Pods of ipledger as the Kubernetes API has them. */
import type { UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';

interface Ended {
  readonly reason: string;
  readonly exitCode: number;
  readonly message: string;
  readonly finishedAt: string;
}

/** The status of a container; it runs unless it waits or has ended. */
export const containerOf = ({
  name = 'allocator',
  waiting,
  message,
  restarts = 0,
  ended,
  last,
}: {
  readonly name?: string;
  readonly waiting?: string;
  readonly message?: string;
  readonly restarts?: number;
  readonly ended?: Ended;
  readonly last?: Ended;
} = {}): UntypedJson => ({
  name,
  restartCount: restarts,
  state:
    waiting !== undefined
      ? { waiting: { reason: waiting, message } }
      : ended
        ? { terminated: ended }
        : { running: { startedAt: '2026-01-31T07:00:00Z' } },
  lastState: last ? { terminated: last } : {},
});

interface PodState {
  readonly name?: string;
  readonly component?: string;
  readonly phase?: string;
  readonly isReady?: boolean;
  readonly createdAt?: string;
  readonly deletedAt?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly unschedulable?: string;
  readonly claims?: readonly string[];
  readonly init?: readonly UntypedJson[];
  readonly containers?: readonly UntypedJson[];
}

export function podOf(state: PodState) {
  const { name = 'allocator-0', component = 'allocator', phase = 'Running', isReady = false, unschedulable } = state;
  const { init = [], containers = [containerOf()], claims = [], reason, message, deletedAt } = state;
  const labels = { 'app.kubernetes.io/name': 'ipledger', 'app.kubernetes.io/component': component };
  const named = (list: readonly UntypedJson[]) => list.map((each) => ({ name: each['name'], image: 'r/ipledger:1' }));
  return {
    metadata: {
      name,
      labels,
      creationTimestamp: state.createdAt ?? '2026-01-31T07:00:00Z',
      deletionTimestamp: deletedAt,
    },
    spec: {
      ...(unschedulable === undefined && { nodeName: 'node-1' }),
      initContainers: named(init),
      containers: named(containers),
      volumes: claims.map((claimName) => ({ name: 'data', persistentVolumeClaim: { claimName } })),
    },
    status: {
      phase,
      reason,
      message,
      conditions: [
        unschedulable === undefined
          ? { type: 'PodScheduled', status: 'True' }
          : { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: unschedulable },
        {
          type: 'Ready',
          status: isReady ? 'True' : 'False',
          ...(!isReady && { reason: 'ContainersNotReady', message: 'containers with unready status: [allocator]' }),
        },
      ],
      initContainerStatuses: init,
      containerStatuses: unschedulable === undefined ? containers : [],
    },
  };
}

/** Reads why a step of a selftest failed, before its objects are removed. */
import { errorMessage } from '../../../lib/errors.ts';
import { asRecord, asText } from '../../../lib/kubernetes/untyped-json.ts';
import type { KubernetesClient } from '../../clients/kubernetes-client.ts';
import { findPodProblems } from '../../installation/pod-problems.ts';
import { readWarnings } from '../../installation/read-warnings.ts';
import { namespaceOf, podsPath, type TestPlan } from './test-objects.ts';

/** What Kubernetes reports: the state of a container, or a warning Event with the error of CNI. */
export interface Reason {
  readonly where: string;
  readonly what: string;
}

const maxReasons = 50;

/** Never throws: a part that cannot be read is a reason, too. */
export async function readReasons(plan: TestPlan, kubernetes: Pick<KubernetesClient, 'list'>): Promise<Reason[]> {
  const [states, events] = await Promise.all([
    orReason('Pods', async () =>
      // Each Pod counts alone: none of them replaces another one
      (await kubernetes.list(podsPath(plan))).flatMap((pod) =>
        findPodProblems([pod], Date.now()).map(({ name, node, container, reason, message }) => ({
          where: `Pod ${name} on node ${node || asText(asRecord(pod['spec'])['nodeName'])}`,
          what: `${reason}${container === '' ? '' : ` of container ${container}`}: ${message}`,
        })),
      ),
    ),
    orReason('Events', async () =>
      (await readWarnings(kubernetes, namespaceOf(plan))).map(({ kind, name, reason, message }) => ({
        where: `${kind} ${name}`,
        what: `${reason}: ${message}`,
      })),
    ),
  ]);
  return [...states, ...events].slice(0, maxReasons);
}

async function orReason(where: string, read: () => Promise<Reason[]>): Promise<Reason[]> {
  try {
    return await read();
  } catch (error) {
    return [{ where, what: `not readable: ${errorMessage(error)}` }];
  }
}

/** The Pods of ipledger, and the workloads that create them: what does not run, and why. */
import type { Facts, PodProblem, Warning, Workload } from '../../../installation/facts.ts';
import { formatCount } from '../../../output/answer.ts';
import type { Check, Finding } from './finding.ts';

/** The names of some Pods are enough: agents fail alike on thousands of nodes. */
const maxNames = 3;

export const isMultus = ({ name }: Workload): boolean => name.includes('multus');

/** The newest Event of an object. */
const eventOf = (warnings: readonly Warning[], kind: string, name: string): Warning | undefined =>
  warnings.find((each) => each.kind === kind && each.name === name);

const describeEvent = (event: Warning | undefined): string => (event ? `${event.reason}: ${event.message}` : '');

/** Sentences; each ends by one period. */
const joinSentences = (...sentences: readonly string[]): string =>
  sentences.flatMap((each) => (each === '' ? [] : `${each.replace(/[.\s]+$/, '')}.`)).join(' ');

/** A Pod that only starts has no reason. An Event may have it. */
const hasReason = ({ reason, container, name }: PodProblem, warnings: readonly Warning[]): boolean =>
  reason !== 'NotReady' || container !== '' || eventOf(warnings, 'Pod', name) !== undefined;

const reasonedPods = ({ pods = [], warnings = [] }: Facts): PodProblem[] =>
  pods.filter((pod) => hasReason(pod, warnings));

const workloadOf = ({ workloads = [], namespace }: Facts, { component }: PodProblem): Workload | undefined =>
  workloads.find((each) => each.namespace === namespace && each.name === `ipledger-${component}`);

/** The reason of each Pod that does not run. Pods with the same reason are one finding. */
export function checkPods(facts: Facts): Finding[] {
  const groups = Map.groupBy(reasonedPods(facts), ({ component, container, reason }) =>
    [component, container, reason].join(' '),
  );
  return [...groups.values()].map((group) => findingOf(facts, group));
}

/** "2 more Pods have it: a, b" */
function describeOthers(names: readonly string[]): string {
  if (names.length === 0) return '';
  const shown = [...names.slice(0, maxNames), ...(names.length > maxNames ? ['…'] : [])];
  return `${formatCount(names.length, 'more Pod')} ${names.length === 1 ? 'has' : 'have'} it: ${shown.join(', ')}`;
}

function findingOf(facts: Facts, [pod, ...others]: readonly PodProblem[]): Finding {
  if (!pod) throw new Error('a group has a Pod');
  const { warnings = [], namespace } = facts;
  const workload = workloadOf(facts, pod);
  const { container, reason, message, restarts, isReady } = pod;
  return {
    severity: workload?.ready === 0 ? 'critical' : 'warning',
    where: `Pod ${namespace}/${pod.name}`,
    what: joinSentences(
      `${reason}${container === '' ? '' : ` of container ${container}`}${restarts === 0 ? '' : ` after ${formatCount(restarts, 'restart')}`}: ${message}`,
      describeEvent(isReady ? undefined : eventOf(warnings, 'Pod', pod.name)),
      ...pod.claims.map((claim) => {
        const event = describeEvent(eventOf(warnings, 'PersistentVolumeClaim', claim));
        return event === '' ? '' : `PersistentVolumeClaim ${claim}: ${event}`;
      }),
      describeOthers(others.map(({ name }) => name)),
      workload && workload.ready < workload.desired
        ? `${workload.ready} of ${workload.desired} Pods of ${workload.kind} ${workload.name} are ready`
        : '',
    ),
    remedy: remedyOf(pod, namespace),
    document:
      pod.component === 'node-agent'
        ? 'docs/troubleshooting.md#a-node-without-an-agent'
        : 'docs/troubleshooting.md#a-program-does-not-start',
  };
}

function remedyOf({ name, container, reason, message, restarts, claims }: PodProblem, namespace: string): string {
  const kubectl = `kubectl -n ${namespace}`;
  const [claim] = claims;
  if (claim !== undefined && message.includes('PersistentVolumeClaim'))
    return `${kubectl} describe pvc ${claim}  # it needs a StorageClass: etcd.managed.storage.className, or the default of the cluster`;
  if (reason === 'OOMKilled')
    return `${kubectl} describe pod ${name}  # raise its memory limit: resources of this program in the values`;
  if (/Image/.test(reason))
    return `${kubectl} describe pod ${name}  # does the node reach the registry? image.registry, imagePullSecrets`;
  if (reason === 'Unschedulable')
    return `${kubectl} describe pod ${name}  # taints, requests and the placement in the values decide on which node it fits`;
  if (reason === 'CrashLoopBackOff' || (reason !== 'NotReady' && restarts > 0))
    return `${kubectl} logs ${name} -c ${container} --previous`;
  if (container !== '' && /^(?:Error|NotReady|Completed)$/.test(reason))
    return `${kubectl} logs ${name} -c ${container}`;
  return `${kubectl} describe pod ${name}  # its Events are the last lines`;
}

/**
 * Checks that each replica of a workload exists and is ready. A workload whose Pods have a finding
 * of their own is left out.
 */
export const checkWorkloads: Check = (facts) => {
  const { workloads = [], warnings = [] } = facts;
  const reported = new Set(reasonedPods(facts).map((pod) => workloadOf(facts, pod)));
  return workloads.flatMap((workload): Finding[] => {
    const { kind, namespace, name, desired, ready, updated } = workload;
    const resource = `${kind.toLowerCase()}/${name}`;
    const base = {
      where: `${kind} ${namespace}/${name}`,
      remedy: `kubectl -n ${namespace} describe ${resource}  # then its Pods that are not ready`,
      document: documentOf(workload),
    };
    if (ready < desired) {
      if (reported.has(workload)) return [];
      const severity = ready === 0 ? 'critical' : 'warning';
      const event = creationFailure(warnings, workload);
      const what = `${ready} of ${desired} Pods are ready.${event === '' ? '' : ` ${event}`}`;
      return [{ ...base, severity, what }];
    }
    if (updated >= desired) return [];
    const what = `${desired - updated} of ${desired} Pods are of an earlier version.`;
    return [{ ...base, severity: 'warning', what, remedy: `kubectl -n ${namespace} rollout status ${resource}` }];
  });
};

/** Why a workload, or the ReplicaSet of a Deployment, creates no Pods: a quota or a policy. */
function creationFailure(warnings: readonly Warning[], { kind, name }: Workload): string {
  const isSet = (each: Warning): boolean =>
    kind === 'Deployment' && each.kind === 'ReplicaSet' && each.name.replace(/-[a-z0-9]+$/, '') === name;
  return describeEvent(warnings.find((each) => (each.kind === kind && each.name === name) || isSet(each)));
}

function documentOf(workload: Workload): string {
  if (isMultus(workload)) return 'docs/install.md#before-you-begin';
  if (workload.kind === 'DaemonSet') return 'docs/troubleshooting.md#a-node-without-an-agent';
  return 'docs/troubleshooting.md#a-program-does-not-start';
}

/** The last two parts of an error: those before name the sandbox and the Pod. */
const causeOf = (message: string): string => message.split(': ').slice(-2).join(': ');

/** Pods of tenants that wait for their network: what the ledger cannot know. */
export const checkSandboxes: Check = ({ sandboxFailures = [], comparison }) => {
  const reported = new Set(comparison?.disagreements.map(({ where }) => where));
  const open = sandboxFailures.filter(({ pod }) => !reported.has(`Pod ${pod}`));
  const groups = Map.groupBy(open, ({ node, message }) => `${node} ${causeOf(message)}`);
  return [...groups.values()].flatMap(([first, ...others]): Finding[] => {
    if (!first) return [];
    const { pod, node, message } = first;
    return [
      {
        severity: 'warning',
        where: `Pod ${pod}`,
        what: joinSentences(
          `Its network cannot be set up on node ${node}: ${causeOf(message)}`,
          describeOthers(others.map((each) => each.pod)),
        ),
        remedy: `ipledger why ${pod}  # then the NetworkAttachmentDefinition, and what it needs on the node`,
        document: 'docs/troubleshooting.md#cni-add-fails',
      },
    ];
  });
};

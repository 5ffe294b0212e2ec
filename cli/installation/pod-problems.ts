/** Finds why Pods of ipledger do not run, with the reasons and the messages of Kubernetes. */
import { cutMiddle } from '../../lib/cut-middle.ts';
import { conditionOf, isReady } from '../../lib/kubernetes/object-meta.ts';
import { asNumber, asRecord, asRecords, asText, type UntypedJson } from '../../lib/kubernetes/untyped-json.ts';
import type { PodProblem } from './facts.ts';

const day = 86_400_000;
/** The end of a log is enough for a finding. */
const messageMaxBytes = 500;
/** A cluster whose agents all fail has thousands. */
const maxProblems = 1_000;
/** Each container has these for a moment. */
const isStarting = new Set(['', 'ContainerCreating', 'PodInitializing']);

/** @param pods of ipledger, as the API server has them */
export function findPodProblems(pods: readonly UntypedJson[], now: number): PodProblem[] {
  const byAge = pods.toSorted((one, other) => (createdAtOf(one) < createdAtOf(other) ? -1 : 1));
  const inOrder = [...byAge.filter(isFailed), ...byAge.filter((pod) => !isFailed(pod))];
  const newest = new Map(inOrder.map((pod) => [workOf(pod), pod]));
  return pods
    .flatMap((pod) => {
      if (!isFailed(pod)) return problemsOf(pod, now);
      return newest.get(workOf(pod)) === pod ? [failureOf(pod)] : [];
    })
    .slice(0, maxProblems);
}

const isFailed = (pod: UntypedJson): boolean => asRecord(pod['status'])['phase'] === 'Failed';
const createdAtOf = (pod: UntypedJson): string => asText(asRecord(pod['metadata'])['creationTimestamp']);

/** The work that a Pod does. The Pods of all runs of a Job, and all replicas, do the same work. */
function workOf(pod: UntypedJson): string {
  const containers = asRecords(asRecord(pod['spec'])['containers']).map(({ name }) => asText(name));
  return [baseOf(pod).component, ...containers].join(' ');
}

/** The PersistentVolumeClaims of a Pod. @param volumes those of its spec */
export const claimsIn = (volumes: unknown): string[] =>
  asRecords(volumes).flatMap((each) => asText(asRecord(each['persistentVolumeClaim'])['claimName']) || []);

function baseOf(pod: UntypedJson) {
  const { name, labels } = asRecord(pod['metadata']);
  const { nodeName, volumes } = asRecord(pod['spec']);
  return {
    component: asText(asRecord(labels)['app.kubernetes.io/component']),
    name: asText(name),
    node: asText(nodeName),
    isReady: isReady(pod),
    container: '',
    restarts: 0,
    claims: claimsIn(volumes),
  };
}

/** A Pod that has ended for good: it was evicted, or its Job failed. */
function failureOf(pod: UntypedJson): PodProblem {
  const { reason, message, containerStatuses, initContainerStatuses } = asRecord(pod['status']);
  const ended = [...asRecords(initContainerStatuses), ...asRecords(containerStatuses)]
    .map(({ name, state }) => ({ name: asText(name), end: asRecord(asRecord(state)['terminated']) }))
    .find(({ end }) => hasFailed(end));
  return {
    ...baseOf(pod),
    container: ended?.name ?? '',
    reason: asText(reason) || asText(ended?.end['reason']) || 'Failed',
    message: shorten(asText(message) || (ended ? describeEnd(ended.end) : '')),
  };
}

function problemsOf(pod: UntypedJson, now: number): PodProblem[] {
  const base = baseOf(pod);
  const status = asRecord(pod['status']);
  const statuses = asRecords(status['containerStatuses']);
  if (status['phase'] === 'Succeeded' || asText(asRecord(pod['metadata'])['deletionTimestamp']) !== '') return [];
  if (base.isReady) return statuses.flatMap((each) => outOfMemory(base, each, now));
  const scheduled = conditionOf(status, 'PodScheduled');
  if (scheduled['status'] === 'False') {
    const reason = asText(scheduled['reason']) || 'Unschedulable';
    return [{ ...base, reason, message: shorten(asText(scheduled['message'])) }];
  }
  const init = asRecords(status['initContainerStatuses']);
  const found = [...init, ...statuses].flatMap((each) => problemOfContainer(base, each));
  if (found.length > 0) return found;
  const running = init.find(({ state }) => 'running' in asRecord(state));
  if (running) {
    const message = 'this init container has not ended';
    return [{ ...base, container: asText(running['name']), reason: 'NotReady', message }];
  }
  return [{ ...base, reason: 'NotReady', message: shorten(asText(conditionOf(status, 'Ready')['message'])) }];
}

type Base = ReturnType<typeof baseOf>;

function problemOfContainer(base: Base, status: UntypedJson): PodProblem[] {
  const { waiting, terminated } = asRecord(status['state']);
  const named = { ...base, container: asText(status['name']), restarts: asNumber(status['restartCount']) ?? 0 };
  const end = asRecord(terminated);
  if (hasFailed(end)) return [{ ...named, reason: asText(end['reason']) || 'Error', message: describeEnd(end) }];
  const reason = asText(asRecord(waiting)['reason']);
  if (isStarting.has(reason)) return [];
  const last = asRecord(asRecord(status['lastState'])['terminated']);
  const before = hasFailed(last) ? `it ended by ${asText(last['reason'])}, ${describeEnd(last)}` : '';
  const message = [asText(asRecord(waiting)['message']), before].filter((each) => each !== '').join('; ');
  return [{ ...named, reason: last['reason'] === 'OOMKilled' ? 'OOMKilled' : reason, message: shorten(message) }];
}

/** A container that was killed, and runs again. */
function outOfMemory(base: Base, status: UntypedJson, now: number): PodProblem[] {
  const last = asRecord(asRecord(status['lastState'])['terminated']);
  const finishedAt = asText(last['finishedAt']);
  if (last['reason'] !== 'OOMKilled' || !(now - Date.parse(finishedAt) < day)) return [];
  const message = `exit code ${asNumber(last['exitCode']) ?? 0}, at ${finishedAt}`;
  const restarts = asNumber(status['restartCount']) ?? 0;
  return [{ ...base, container: asText(status['name']), restarts, reason: 'OOMKilled', message }];
}

const hasFailed = (end: UntypedJson): boolean => (asNumber(end['exitCode']) ?? 0) !== 0;

/** The exit code of a container, and the end of what it wrote. */
function describeEnd(end: UntypedJson): string {
  const text = asText(end['message']).trim();
  return shorten(`exit code ${asNumber(end['exitCode']) ?? 0}${text === '' ? '' : `: ${text}`}`);
}

/** Makes one line of a text. The start or the end of a long text names the cause. */
export const shorten = (text: string): string => cutMiddle(text.trim().replaceAll(/\s*\n\s*/g, '; '), messageMaxBytes);

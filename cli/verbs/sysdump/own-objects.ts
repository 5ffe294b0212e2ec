/**
 * The Pods and Events of ipledger's namespace for a support bundle: what does not start, and why.
 */
import { claimsIn } from '../../installation/pod-problems.ts';
import { timeOf } from '../../installation/read-warnings.ts';
import { asRecord, asRecords, type UntypedJson } from '../../../lib/kubernetes/untyped-json.ts';

/** A container without its environment and arguments, which may be anything. */
const selectContainer = ({ name, image, resources }: UntypedJson) => ({ container: name, image, resources });

const selectStatus = ({ name, ready, restartCount, state, lastState, imageID }: UntypedJson) => ({
  container: name,
  ready,
  restarts: restartCount,
  state,
  lastState,
  imageID,
});

/** The status of a Pod, and what decides where it runs. */
export function selectOwnPod(item: UntypedJson): UntypedJson {
  const { name, labels, creationTimestamp, deletionTimestamp } = asRecord(item['metadata']);
  const { nodeName, containers, initContainers, volumes, nodeSelector, tolerations } = asRecord(item['spec']);
  const { phase, reason, message, conditions, containerStatuses, initContainerStatuses } = asRecord(item['status']);
  return {
    name,
    component: asRecord(labels)['app.kubernetes.io/component'],
    node: nodeName,
    createdAt: creationTimestamp,
    deletionTimestamp,
    phase,
    reason,
    message,
    conditions,
    containers: asRecords(containers).map(selectContainer),
    initContainers: asRecords(initContainers).map(selectContainer),
    statuses: asRecords(containerStatuses).map(selectStatus),
    initStatuses: asRecords(initContainerStatuses).map(selectStatus),
    claims: claimsIn(volumes),
    nodeSelector,
    tolerations,
  };
}

export function selectOwnEvent(item: UntypedJson): UntypedJson {
  const { kind, name } = asRecord(item['involvedObject']);
  const { type, reason, message, count } = item;
  return { kind, name, type, reason, message, count, at: timeOf(item) };
}

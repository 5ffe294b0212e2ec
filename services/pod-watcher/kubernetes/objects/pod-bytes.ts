/** A Pod as bytes. Nearly all Pods of a cluster are usual: they run, are not being deleted, and have no problem. */
import type { ObjectCodec } from '../compact-objects.ts';
import { keyOf } from '../../../../lib/kubernetes/client/informer.ts';
import { recordFields as fields } from '../../record-fields.ts';
import { isUniquePerPod, noProblems, type Pod } from './pod.ts';

const { reader, writer } = fields;

/** Far above any real grace period. It is stored together with two flags, as one safe integer. */
const maxGraceSeconds = 2 ** 40;

export const podBytes: ObjectCodec<Pod> = {
  encode(pod) {
    if (!isUsual(pod)) return undefined;
    writer.clear();
    write(pod);
    return writer.take();
  },

  decode(bytes) {
    reader.open(bytes);
    const namespace = fields.readShared();
    const name = reader.text();
    const uid = reader.text();
    const resourceVersion = fields.readDecimal();
    const createdAt = fields.readTime();
    const node = fields.readShared();
    const restartPolicy = fields.readShared();
    const phase = fields.readShared();
    const graceAndFlags = reader.number();
    const flags = graceAndFlags % 4;
    const hostNetwork = (flags & 1) === 1;
    const graceSeconds = (graceAndFlags - flags) / 4;
    return {
      namespace,
      name,
      uid,
      resourceVersion,
      ledgerName: name,
      ledgerUid: uid,
      claimedMachine: undefined,
      claimRefusal: '',
      createdAt,
      node,
      hostNetwork,
      restartPolicy,
      phase,
      reason: '',
      deletionTimestamp: '',
      graceSeconds,
      controller: readController(name),
      annotations: readAnnotations(),
      showsWaitReason: (flags & 2) === 2,
      problems: noProblems,
    };
  },

  keyOf(bytes) {
    reader.open(bytes);
    const namespace = fields.readShared();
    return keyOf({ namespace, name: reader.text() });
  },
};

/** Whether the fields of which most Pods have none are empty. */
function isUsual(pod: Pod): boolean {
  const { name, uid, ledgerName, ledgerUid, claimedMachine, claimRefusal, deletionTimestamp, reason, problems } = pod;
  const { graceSeconds } = pod;
  const hasOwnIdentity = name === ledgerName && uid === ledgerUid && claimedMachine === undefined;
  if (!Number.isInteger(graceSeconds) || graceSeconds < 0 || graceSeconds > maxGraceSeconds) return false;
  return hasOwnIdentity && claimRefusal === '' && deletionTimestamp === '' && reason === '' && problems.length === 0;
}

function write(pod: Pod): void {
  fields.writeShared(pod.namespace);
  writer.text(pod.name);
  writer.text(pod.uid);
  fields.writeDecimal(pod.resourceVersion);
  fields.writeTime(pod.createdAt);
  fields.writeShared(pod.node);
  fields.writeShared(pod.restartPolicy);
  fields.writeShared(pod.phase);
  writer.number(pod.graceSeconds * 4 + (pod.hostNetwork ? 1 : 0) + (pod.showsWaitReason ? 2 : 0));
  fields.writeOwner(pod.controller, pod.name);
  if (pod.controller) fields.writeTenantText(pod.controller.apiVersion);
  writeAnnotations(pod.annotations);
}

function readController(pod: string): Pod['controller'] {
  const owner = fields.readOwner(pod);
  return owner && { apiVersion: fields.readTenantText(), ...owner };
}

/** The keys are a shared list: the Pods of a workload have the same ones. */
function writeAnnotations(annotations: Pod['annotations']): void {
  const keys = Object.keys(annotations);
  fields.writeTenantList(keys);
  for (const key of keys) {
    const value = annotations[key] as string;
    if (isUniquePerPod(key)) writer.address(value);
    else fields.writeTenantText(value);
  }
}

function readAnnotations(): Pod['annotations'] {
  const annotations: Record<string, string> = {};
  for (const key of fields.readTenantList())
    annotations[key] = isUniquePerPod(key) ? reader.address() : fields.readTenantText();
  return annotations;
}

/** Pod: the few fields that pod-watcher uses, so that a large cluster fits in memory. */
import {
  assertedMachineOf,
  type Controller,
  controllerOf,
  isStaticIdentity,
  podIdentityOf,
} from '../../../../lib/kubernetes/pod-identity.ts';
import { waitingAnnotation } from '../../../../lib/kubernetes/kubernetes-metadata.ts';
import { graceSecondsOf } from '../../../../lib/kubernetes/pod-lifecycle.ts';
import { recentText, sharedText, SharedValues } from '../../shared-values.ts';
import { asRecord, asText, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { limitExceeded, podLimits, textLimits, tooLong, tooMany } from '../../limits.ts';
import type { ObjectMeta, ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { isAttachmentKey, isUniqueKey, maxLengthOfKey } from './annotation-table.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';
import { ovn4nfvAnnotations } from '../../../../lib/ovn4nfv/annotations.ts';

export interface Pod extends ObjectMeta {
  /** The name in the ledger: the Pod's own name, or the machine's for a launcher. */
  readonly ledgerName: string;
  /** The uid in the ledger: the Pod's, a static Pod's hash, or the machine's of a launcher. */
  readonly ledgerUid: string;
  /** The virtual machine that the Pod claims to launch; undefined for other Pods. */
  readonly assertedMachine: Controller | undefined;
  /** Why that claim is rejected; "" while it is accepted or not verified. */
  readonly launcherRefusal: string;
  /** The creation time in RFC 3339. */
  readonly createdAt: string;
  readonly node: string;
  readonly hostNetwork: boolean;
  readonly restartPolicy: string;
  readonly phase: string;
  readonly reason: string;
  /** The deletion time in RFC 3339; "" unless the Pod is terminating. */
  readonly deletionTimestamp: string;
  /** The grace period of the deletion if the Pod is terminating, or else of the spec. */
  readonly graceSeconds: number;
  readonly controller: Controller | undefined;
  /** The annotations about attachments that are within their limits. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Whether the annotation `ipledger.io/waiting` is present. */
  readonly showsWaitReason: boolean;
  /** Messages about fields over their limit. A Pod with problems gets no allocation. */
  readonly problems: readonly string[];
}

export const networksAnnotation = 'k8s.v1.cni.cncf.io/networks';
/** The earlier name of `networksAnnotation`, which is read if that annotation is absent. */
const earlyNetworksAnnotation = 'kubernetes.v1.cni.cncf.io/networks';
export const defaultNetworkAnnotation = 'v1.multus-cni.io/default-network';

/** The annotation that names a Vip whose addresses the Pod requests. */
export const vipAnnotation = 'ovn.kubernetes.io/vip';

/** Annotations that select networks, and may be long. */
const networkKeys = new Set<string>([
  networksAnnotation,
  earlyNetworksAnnotation,
  defaultNetworkAnnotation,
  ...ovn4nfvAnnotations,
]);

const attachmentKeys = new Set<string>([...networkKeys, vipAnnotation]);

/** Returns the annotation that selects the Pod's networks, and its value; "" if it selects none. */
export function networksAnnotationOf({ annotations }: Pick<Pod, 'annotations'>): [key: string, value: string] {
  const key = annotations[networksAnnotation] === undefined ? earlyNetworksAnnotation : networksAnnotation;
  const value = annotations[key]?.trim() ?? '';
  return [value === '' ? networksAnnotation : key, value];
}

export const pods: ResourceKind<Pod> = { path: '/api/v1/pods', parse: toPod };

/** @throws Error for an object without name or uid */
export function toPod(raw: unknown): Pod {
  const object = asRecord(raw);
  const [metadata, spec, status] = [asRecord(object['metadata']), asRecord(object['spec']), asRecord(object['status'])];
  const { namespace, name, uid, resourceVersion } = objectMetaOf(metadata);
  const meta = { namespace: sharedText(namespace), name: recentText(name), uid: recentText(uid), resourceVersion };
  const annotations = asRecord(metadata['annotations']);
  const attachments = readAttachmentAnnotations(annotations);
  const owner = readController(metadata['ownerReferences']);
  const { controller } = owner;
  const { name: ledgerName, uid: ledgerUid } = podIdentityOf({ ...meta, annotations });
  const createdAt = asText(metadata['creationTimestamp']);
  // Ignores a problem with the owner of a Pod without a request.
  const ownerProblems = Object.keys(attachments.annotations).length === 0 ? [] : [owner.problem];
  const problems = [...attachments.problems, ...ownerProblems.filter((each) => each !== undefined)];
  return {
    ...meta,
    ledgerName,
    ledgerUid,
    assertedMachine: assertedMachineOf({ ...meta, controller }),
    launcherRefusal: '',
    createdAt: creationTimes.share(createdAt, createdAt),
    node: sharedText(asText(spec['nodeName'])),
    hostNetwork: spec['hostNetwork'] === true,
    restartPolicy: sharedText(asText(spec['restartPolicy'])),
    phase: asText(status['phase']),
    reason: asText(status['reason']),
    deletionTimestamp: asText(metadata['deletionTimestamp']),
    graceSeconds: graceSecondsOf(metadata, spec),
    controller: controller && controllers.share(JSON.stringify(controller), controller),
    annotations: attachments.annotations,
    showsWaitReason: annotations[waitingAnnotation] !== undefined,
    problems: problems.length === 0 ? noProblems : problems,
  };
}

/** The list that all Pods without problems share. */
const noProblems: readonly string[] = Object.freeze([]);

/** Creation times, in seconds, which the Pods of a burst share. */
const creationTimes = new SharedValues<string>(512);

/** Controllers, which their Pods share. */
const controllers = new SharedValues<Controller>();

/** Returns the controller of the Pod; undefined if the references are over their limits. */
function readController(references: unknown): { controller: Controller | undefined; problem?: string } {
  const all: unknown[] = Array.isArray(references) ? references : [];
  const many = tooMany('metadata.ownerReferences', all, { most: podLimits.ownerReferences, unit: 'entries' });
  if (many !== undefined) return { controller: undefined, problem: many };
  const controller = controllerOf(references);
  for (const [field, value] of Object.entries(controller ?? {})) {
    const long = tooLong(
      `${field} of the controller in metadata.ownerReferences`,
      value as string,
      textLimits.nameLength,
    );
    if (long !== undefined) return { controller: undefined, problem: long };
  }
  return { controller };
}

/** The number of annotations over their limit that are reported. */
const maxProblems = 3;

function readAttachmentAnnotations(all: UntypedJson): Pick<Pod, 'annotations' | 'problems'> {
  const annotations: Record<string, string> = {};
  const problems: string[] = [];
  const entries = Object.entries(all).filter(([key]) => attachmentKeys.has(key) || isAttachmentKey(key));
  const unit = 'annotations about attachments';
  const many = tooMany('the Pod', entries, { most: podLimits.annotations, unit });
  if (many !== undefined) return { annotations, problems: [many] };
  const excess = totalExcess(entries);
  if (excess !== undefined) return { annotations, problems: [excess] };
  for (const [key, value] of entries) {
    if (typeof value !== 'string') continue;
    const long = tooLong(`annotation ${key}`, value, maxLengthOf(key));
    if (long === undefined) annotations[key] = isUniquePerPod(key) ? recentText(value) : sharedText(value);
    else if (problems.length < maxProblems) problems.push(long);
  }
  return { annotations, problems };
}

/** Checks the total of all annotations, which may be too large while each is small. */
function totalExcess(entries: readonly [key: string, value: unknown][]): string | undefined {
  const texts = entries.map(([key, value]) => [key, asText(value)] as const);
  const fitting = texts.filter(([key, { length }]) => length <= maxLengthOf(key));
  const addresses = fitting
    .filter(([key]) => isPoolAnnotation(key))
    .reduce((sum, [, value]) => sum + countEntries(value), 0);
  if (addresses > podLimits.poolAddresses)
    return limitExceeded('the Pod', {
      has: addresses,
      most: podLimits.poolAddresses,
      unit: 'addresses in all its ip_pool annotations',
      remedy: 'shorten them, or name an IPPool in them',
    });
  const characters = fitting.reduce((sum, [, { length }]) => sum + length, 0);
  if (characters <= podLimits.annotationsLength) return undefined;
  return limitExceeded('the Pod', {
    has: characters,
    most: podLimits.annotationsLength,
    unit: 'characters in all its annotations about attachments',
    remedy: 'shorten or remove some',
  });
}

const isPoolAnnotation = (key: string): boolean => key.endsWith('.kubernetes.io/ip_pool');

function countEntries(value: string): number {
  let count = 1;
  for (const character of value) if (character === ';' || character === ',') count += 1;
  return count;
}

/** Whether only one Pod has the value of this annotation: addresses, and answers with addresses. */
export const isUniquePerPod = (key: string): boolean => isUniqueKey(key) || ovn4nfvAnnotations.includes(key);

const maxLengthOf = (key: string): number => (networkKeys.has(key) ? podLimits.networksLength : maxLengthOfKey(key));

/**
 * Whether the kubelet of the Pod's node could have written the Pod as the mirror of a static Pod:
 * it has the hash of a manifest as identity, and its own Node as controller. The kubelet creates a
 * deleted mirror again.
 */
export const isMirror = ({ ledgerUid, node, controller }: Pick<Pod, 'ledgerUid' | 'node' | 'controller'>): boolean =>
  isStaticIdentity(ledgerUid) &&
  controller?.apiVersion === 'v1' &&
  controller.kind === 'Node' &&
  controller.name === node &&
  node !== '';

/** Whether the Pod has terminated: its containers do not start again. */
export const isTerminated = ({ phase }: Pick<Pod, 'phase'>): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Whether the annotations show an allocation of any attachment. */
export function hasAllocatedAnnotation(annotations: Readonly<Record<string, string>>): boolean {
  return Object.entries(annotations).some(
    ([key, value]) => key.endsWith('.kubernetes.io/allocated') && value === 'true',
  );
}

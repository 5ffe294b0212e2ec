import { record, text } from './raw.ts';

/**
 * As whom the ledger knows a Pod. Most are known by their own name and uid. A static Pod goes by the hash of its manifest, since
 * that is what the container runtime calls it, and the API knows that as an annotation of its mirror. The Pods in which a virtual
 * machine runs (KubeVirt's launchers: at times two, while it moves) are all the one machine, which keeps its name when it is
 * started again; but only where that machine lets it be seen that they are its own.
 */
export interface PodIdentity {
  readonly name: string;
  readonly uid: string;
}

/** What of a Pod's metadata tells. */
export interface PodMetadata extends PodIdentity {
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly controller: Controller | undefined;
}

/** The owner reference with `controller: true`. */
export interface Controller {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** That among the owner references of an object, as the API writes them; undefined when there is none. */
export function controllerOf(references: unknown): Controller | undefined {
  if (!Array.isArray(references)) return undefined;
  const controller = references.map(record).find((reference) => reference['controller'] === true);
  if (!controller) return undefined;
  const { apiVersion, kind, name, uid } = controller;
  return { apiVersion: text(apiVersion), kind: text(kind), name: text(name), uid: text(uid) };
}

export const machineKind = 'VirtualMachineInstance';

/** KubeVirt calls its launchers so; others may be called so, too. */
export const launcherPrefix = 'virt-launcher-';

/** kubelet's own form: a uid, which is of another form, would be that of another object. */
const manifestHash = /^[0-9a-f]{32}$/;

/** Who a Pod is by itself: what its ownerReferences claim is another question. */
export function identityOf({ name, uid, annotations }: Omit<PodMetadata, 'controller'>): PodIdentity {
  const hash = annotations['kubernetes.io/config.hash'];
  const isMirror = Boolean(annotations['kubernetes.io/config.mirror']);
  return { name, uid: isMirror && typeof hash === 'string' && manifestHash.test(hash) ? hash : uid };
}

/**
 * The virtual machine in whose launcher a Pod claims to be, by its name and its ownerReferences; undefined for others. Each client
 * that may create Pods can claim it: see whyNotLauncher.
 */
export function machineClaimOf({ name, controller }: Pick<PodMetadata, 'name' | 'controller'>): Controller | undefined {
  return controller && name.startsWith(launcherPrefix) && isMachine(controller) ? controller : undefined;
}

/** What a VirtualMachineInstance shows of itself. */
export interface MachineInstance {
  readonly uid: string;
  /** The uids of its launchers, where its status lists them. */
  readonly activePods?: ReadonlySet<string> | undefined;
}

/** @param raw the object as the API has it */
export function machineInstanceOf(raw: unknown): MachineInstance {
  const { metadata, status } = record(raw);
  const listed = record(status)['activePods'];
  const activePods = typeof listed === 'object' && listed !== null ? new Set(Object.keys(listed)) : undefined;
  return { uid: text(record(metadata)['uid']), activePods };
}

/**
 * Why a Pod is not the launcher that it claims to be; undefined when it is one. `unlisted`: the instance is there, and may list
 * the Pod in a moment.
 */
export function whyNotLauncher(
  instance: MachineInstance | undefined,
  claim: Pick<Controller, 'name' | 'uid'>,
  pod: Pick<PodIdentity, 'name' | 'uid'>,
): { readonly kind: 'absent' | 'unlisted'; readonly text: string } | undefined {
  const claimed = `Pod ${pod.name} names VirtualMachineInstance ${claim.name} (uid ${claim.uid}) as its controller, and`;
  const remedy = `if KubeVirt did not make this Pod, take that reference out of its metadata and give it a name without "${launcherPrefix}"`;
  if (instance?.uid !== claim.uid)
    return { kind: 'absent', text: `${claimed} there is no such object in its namespace: ${remedy}` };
  if (instance.activePods && !instance.activePods.has(pod.uid))
    return {
      kind: 'unlisted',
      text: `${claimed} that does not list Pod uid ${pod.uid} in status.activePods: ${remedy}`,
    };
  return undefined;
}

const isMachine = ({ apiVersion, kind }: Controller): boolean =>
  kind === machineKind && apiVersion.startsWith('kubevirt.io/');

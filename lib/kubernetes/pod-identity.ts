import { asRecord, asText } from './untyped-json.ts';

/**
 * The identity of a Pod in the ledger: usually its own name and uid. The uid of a static Pod is the
 * hash of its manifest, as in the container runtime; the API has it in an annotation of the mirror
 * Pod. KubeVirt's launchers, of which there are two during a live migration, have the identity of
 * their virtual machine, if the machine's object confirms that they are its launchers.
 */
export interface PodIdentity {
  readonly name: string;
  readonly uid: string;
}

/** The metadata that determines the identity. */
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

/** Finds the controller in the owner references of an object; undefined when there is none. */
export function controllerOf(references: unknown): Controller | undefined {
  if (!Array.isArray(references)) return undefined;
  const controller = references.map(asRecord).find((reference) => reference['controller'] === true);
  if (!controller) return undefined;
  const { apiVersion, kind, name, uid } = controller;
  return { apiVersion: asText(apiVersion), kind: asText(kind), name: asText(name), uid: asText(uid) };
}

export const virtualMachineKind = 'VirtualMachineInstance';

/** The name prefix of KubeVirt's launchers. Other Pods may have it, too. */
export const launcherPrefix = 'virt-launcher-';

/** The format of kubelet's hash: no other object can have such a uid. */
const manifestHash = /^[0-9a-f]{32}$/;

/** Whether an identity is that of a static Pod. */
export const isStaticIdentity = (uid: string): boolean => manifestHash.test(uid);

/**
 * Returns the identity of a Pod without regard to its owner references. Each client that may create
 * Pods can write both annotations: the identity alone gives a Pod nothing. A binding of a container
 * to it shows that a kubelet runs the static Pod.
 */
export function podIdentityOf({ name, uid, annotations }: Omit<PodMetadata, 'controller'>): PodIdentity {
  const hash = annotations['kubernetes.io/config.hash'];
  const isMirror = annotations['kubernetes.io/config.mirror'] === hash;
  return { name, uid: isMirror && typeof hash === 'string' && isStaticIdentity(hash) ? hash : uid };
}

/**
 * Returns the virtual machine whose launcher a Pod asserts to be, by its name and its owner
 * references; undefined for other Pods. Each client that may create Pods can assert that: verify it
 * with `launcherMismatch`.
 */
export function assertedMachineOf({
  name,
  controller,
}: Pick<PodMetadata, 'name' | 'controller'>): Controller | undefined {
  return controller && name.startsWith(launcherPrefix) && isMachine(controller) ? controller : undefined;
}

/** The fields of a VirtualMachineInstance that verify it. */
export interface MachineInstance {
  readonly uid: string;
  /** The uids of its launchers; undefined if its status does not list them. */
  readonly activePods?: ReadonlySet<string> | undefined;
}

/** @param raw the object from the API */
export function machineInstanceOf(raw: unknown): MachineInstance {
  const { metadata, status } = asRecord(raw);
  const listed = asRecord(status)['activePods'];
  const activePods = typeof listed === 'object' && listed !== null ? new Set(Object.keys(listed)) : undefined;
  return { uid: asText(asRecord(metadata)['uid']), activePods };
}

/**
 * Returns why a Pod is not the launcher that it asserts to be; undefined when it is. `unlisted`:
 * the instance exists, and may list the Pod soon.
 */
export function launcherMismatch(
  instance: MachineInstance | undefined,
  asserted: Pick<Controller, 'name' | 'uid'>,
  pod: Pick<PodIdentity, 'name' | 'uid'>,
): { readonly kind: 'absent' | 'unlisted'; readonly text: string } | undefined {
  const named = `Pod ${pod.name} names VirtualMachineInstance ${asserted.name} (uid ${asserted.uid}) as its controller, and`;
  const remedy = `if KubeVirt did not make this Pod, take that reference out of its metadata and give it a name without "${launcherPrefix}"`;
  if (instance?.uid !== asserted.uid)
    return { kind: 'absent', text: `${named} there is no such object in its namespace: ${remedy}` };
  if (instance.activePods && !instance.activePods.has(pod.uid))
    return {
      kind: 'unlisted',
      text: `${named} that does not list Pod uid ${pod.uid} in status.activePods: ${remedy}`,
    };
  return undefined;
}

const isMachine = ({ apiVersion, kind }: Controller): boolean =>
  kind === virtualMachineKind && apiVersion.startsWith('kubevirt.io/');

import { asRecord, asText } from './untyped-json.ts';

/**
 * The identity of a Pod in the ledger: usually its own name and uid. A static Pod has the hash of
 * its manifest as uid, as in the container runtime; in the API, an annotation of the mirror Pod has
 * the hash. A KubeVirt launcher has the identity of its virtual machine, if the machine's object
 * confirms the launcher. During a live migration there are two launchers.
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

/** Finds the controller in the owner references of an object; undefined for none. */
export function controllerOf(references: unknown): Controller | undefined {
  if (!Array.isArray(references)) return undefined;
  const controller = references.map(asRecord).find((reference) => reference['controller'] === true);
  if (!controller) return undefined;
  const { apiVersion, kind, name, uid } = controller;
  return { apiVersion: asText(apiVersion), kind: asText(kind), name: asText(name), uid: asText(uid) };
}

export const virtualMachineKind = 'VirtualMachineInstance';

/** The name prefix of KubeVirt's launchers. Other Pods may also have it. */
export const launcherPrefix = 'virt-launcher-';

/** The format of kubelet's hash. No object of the API has such a uid. */
const manifestHash = /^[0-9a-f]{32}$/;

export const isStaticIdentity = (uid: string): boolean => manifestHash.test(uid);

/**
 * Returns the identity of a Pod without its owner references. Any client that may create Pods can
 * write both annotations, so the identity alone grants nothing. A binding of a container shows that
 * a kubelet runs the static Pod.
 */
export function podIdentityOf({ name, uid, annotations }: Omit<PodMetadata, 'controller'>): PodIdentity {
  const hash = annotations['kubernetes.io/config.hash'];
  const isMirror = annotations['kubernetes.io/config.mirror'] === hash;
  return { name, uid: isMirror && typeof hash === 'string' && isStaticIdentity(hash) ? hash : uid };
}

/**
 * Returns the virtual machine whose launcher a Pod claims to be, from its name and owner
 * references; undefined for other Pods. Any client that may create Pods can claim that, so verify
 * it with `launcherMismatch`.
 */
export function assertedMachineOf({
  name,
  controller,
}: Pick<PodMetadata, 'name' | 'controller'>): Controller | undefined {
  return controller && name.startsWith(launcherPrefix) && isMachine(controller) ? controller : undefined;
}

/** The fields of a VirtualMachineInstance against which a launcher is verified. */
export interface MachineInstance {
  readonly uid: string;
  /** The uids of the launchers; undefined if the status does not list them. */
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
 * Explains why a Pod is not the launcher that it claims to be; undefined if it is. `unlisted`: the
 * instance exists, and may list the Pod soon.
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

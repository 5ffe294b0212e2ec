import { record, text } from './raw.ts';

/**
 * As whom the ledger knows a Pod. Most are known by their own name and uid. A static Pod goes by the hash of its manifest, since
 * that is what the container runtime calls it, and the API knows that as an annotation of its mirror. The Pods in which a virtual
 * machine runs (KubeVirt's launchers: at times two, while it moves) are all the one machine, which keeps its name when it is
 * started again.
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

export function identityOf({ name, uid, annotations, controller }: PodMetadata): PodIdentity {
  if (controller && isMachine(controller)) return { name: controller.name, uid: controller.uid };
  const hash = annotations['kubernetes.io/config.hash'];
  const isMirror = Boolean(annotations['kubernetes.io/config.mirror']);
  return { name, uid: isMirror && typeof hash === 'string' && hash !== '' ? hash : uid };
}

const isMachine = ({ apiVersion, kind }: Controller): boolean =>
  kind === machineKind && apiVersion.startsWith('kubevirt.io/');

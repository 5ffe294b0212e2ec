/**
 * Verifies Pods that assert that they run a virtual machine.
 *
 * Each client that may create Pods may write any ownerReference. So a Pod that claims to be the
 * launcher of a VirtualMachineInstance keeps its own name and uid, and gets no address, until the
 * API shows the instance with that uid. If the status of the instance lists its Pods, this Pod must
 * be among them. Then the ledger identifies the Pod by the machine.
 *
 * Invariant: a verified Pod keeps its identity, even when its ownerReferences are edited.
 */
import type { Logger } from '../../../lib/process/log.ts';
import { launcherMismatch } from '../../../lib/kubernetes/pod-identity.ts';
import { type Outcome, WorkQueue } from '../work-queue/work-queue.ts';
import { type ObjectChange, keyOf, type Informer } from '../../../lib/kubernetes/client/informer.ts';
import { keysOfNamespace, type ObjectStore } from '../../../lib/kubernetes/client/object-store.ts';
import type { VirtualMachineObject } from './objects/virtual-machine.ts';
import type { Pod } from './objects/pod.ts';

export interface LauncherVerifierOptions {
  readonly pods: Pick<Informer<Pod>, 'objects' | 'subscribe'> & Partial<Pick<Informer<Pod>, 'versionBeforeList'>>;
  /** Reads the current machine "namespace/name". */
  readonly lookUpMachines: (
    key: string,
    signal: AbortSignal,
  ) => Promise<{ readonly VirtualMachineInstance: VirtualMachineObject | undefined }>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 16;
const firstBackoffMs = 500;
/** The longest backoff: any number of Pods may make claims that are rejected. */
const maxBackoffMs = 300_000;

/** Whether the Pod is verified as a launcher. */
export const isLauncher = ({ name, ledgerName }: Pick<Pod, 'name' | 'ledgerName'>): boolean => name !== ledgerName;

/** Whether the Pod asserts that it is a launcher and is neither verified nor rejected. */
export const isUnverifiedLauncher = (pod: Pod): boolean =>
  pod.assertedMachine !== undefined && !isLauncher(pod) && pod.launcherRefusal === '';

/** Returns the Pod with the identity of the machine that it claims to run. */
export const asVirtualMachine = (pod: Pod): Pod =>
  pod.assertedMachine
    ? { ...pod, ledgerName: pod.assertedMachine.name, ledgerUid: pod.assertedMachine.uid, launcherRefusal: '' }
    : pod;

/** The Pods by "namespace/name", with their verified identity. */
export type VerifiedPods = Pick<ObjectStore<Pod>, 'get' | 'has' | 'keys' | 'keysOf'>;

export class LauncherVerifier {
  readonly objects: VerifiedPods;
  readonly #options: LauncherVerifierOptions;
  /** The Pods whose identity or refusal differs from their object's. */
  readonly #changed = new Map<string, Pod>();
  readonly #queue: WorkQueue;
  readonly #listeners: ((change: ObjectChange<Pod>) => void)[] = [];

  /** Must be created before other subscribers of `pods`, which rely on its updates. */
  constructor(options: LauncherVerifierOptions) {
    this.#options = options;
    const { pods, log, signal } = options;
    const work = (key: string) => this.#verify(key);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs, maxBackoffMs, work, log, signal });
    this.#queue.start();
    this.objects = {
      get: (key) => this.#changed.get(key) ?? pods.objects.get(key),
      has: (key) => pods.objects.has(key),
      keys: () => pods.objects.keys(),
      keysOf: (namespace) => keysOfNamespace(pods.objects, namespace),
    };
    for (const pod of pods.objects.values()) this.#put(pod, undefined);
    pods.subscribe((change) => {
      if (change.kind === 'present') this.#put(change.object, change.before);
      else if (change.kind === 'gone') this.#drop(change.object, change.witnessed);
      else this.#notify(change);
    });
  }

  /** Returns Informer.versionBeforeList. */
  get versionBeforeList(): string | undefined {
    return this.#options.pods.versionBeforeList;
  }

  /** Subscribes like Informer.subscribe. */
  subscribe(listener: (change: ObjectChange<Pod>) => void): void {
    this.#listeners.push(listener);
  }

  #put(object: Pod, replaced: Pod | undefined): void {
    const known = this.#changed.get(keyOf(object)) ?? replaced;
    const before = known?.uid === object.uid ? known : undefined;
    const pod = before ? withIdentityOf(before, object) : object;
    this.#set(pod, { object, before });
    if (isUnverifiedLauncher(pod)) this.#queue.add(keyOf(pod));
  }

  /** Reports a deleted Pod with its verified identity. */
  #drop(object: Pod, witnessed: boolean): void {
    const known = this.#changed.get(keyOf(object));
    this.#changed.delete(keyOf(object));
    const pod = known?.uid === object.uid ? withIdentityOf(known, object) : object;
    this.#notify({ kind: 'gone', object: pod, witnessed });
  }

  /** Stores and reports a Pod. @param object the informer's; `before`: the last known state */
  #set(pod: Pod, { object, before }: { readonly object: Pod | undefined; readonly before: Pod | undefined }): void {
    if (pod === object) this.#changed.delete(keyOf(pod));
    else this.#changed.set(keyOf(pod), pod);
    this.#notify({ kind: 'present', object: pod, before });
  }

  async #verify(key: string): Promise<Outcome> {
    const { lookUpMachines, log, signal } = this.#options;
    const before = this.objects.get(key);
    if (!before?.assertedMachine || isLauncher(before)) return 'done';
    const { namespace, assertedMachine } = before;
    const machines = await lookUpMachines(keyOf({ namespace, name: assertedMachine.name }), signal);
    const pod = this.objects.get(key);
    if (
      pod?.uid !== before.uid ||
      pod.assertedMachine?.uid !== assertedMachine.uid ||
      pod.assertedMachine.name !== assertedMachine.name
    )
      return 'again';
    const launcherRefusal = launcherMismatch(machines.VirtualMachineInstance, assertedMachine, pod)?.text ?? '';
    const verified = { object: undefined, before: pod };
    if (launcherRefusal === '') this.#set(asVirtualMachine(pod), verified);
    else if (launcherRefusal !== pod.launcherRefusal) {
      log.info({ pod: key, uid: pod.uid, reason: launcherRefusal }, 'rejected the claim of a Pod to be a launcher');
      this.#set({ ...pod, launcherRefusal }, verified);
    }
    return launcherRefusal === '' ? 'done' : 'again';
  }

  #notify(change: ObjectChange<Pod>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** Returns a changed Pod with the identity or the refusal that was decided before. */
function withIdentityOf(known: Pod, pod: Pod): Pod {
  const { assertedMachine, ledgerName, ledgerUid, launcherRefusal } = known;
  const isSameAssertion =
    pod.assertedMachine?.name === assertedMachine?.name && pod.assertedMachine?.uid === assertedMachine?.uid;
  const isDecided = assertedMachine === undefined || isLauncher(known);
  if (!isDecided && !isSameAssertion) return pod;
  const isSame =
    pod.ledgerName === ledgerName && pod.ledgerUid === ledgerUid && pod.launcherRefusal === launcherRefusal;
  if (isSame && isSameAssertion) return pod;
  return isDecided ? { ...pod, assertedMachine, ledgerName, ledgerUid, launcherRefusal } : { ...pod, launcherRefusal };
}

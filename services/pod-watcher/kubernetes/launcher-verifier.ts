/**
 * Verifies Pods that claim to run a virtual machine.
 *
 * Each client that may create Pods may write any ownerReference. So a Pod that claims to be the launcher of a
 * VirtualMachineInstance keeps its own name and uid, and gets no address, until the API shows the instance with that uid. If the
 * status of the instance lists its Pods, this Pod must be among them. Then the ledger identifies the Pod by the machine.
 *
 * Invariant: a verified Pod keeps its identity, even when its ownerReferences are edited.
 */
import type { Logger } from '../../../lib/process/log.ts';
import { launcherMismatch } from '../../../lib/kubernetes/pod-identity.ts';
import { type Outcome, WorkQueue } from '../work-queue/work-queue.ts';
import { type ObjectChange, keyOf, type Informer } from '../../../lib/kubernetes/client/informer.ts';
import type { VirtualMachineObject } from './objects/virtual-machine.ts';
import type { Pod } from './objects/pod.ts';

export interface LauncherVerifierOptions {
  readonly pods: Pick<Informer<Pod>, 'objects' | 'subscribe'>;
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
/** Rejected claims are verified again at long intervals, because any number of Pods may make one. */
const maxBackoffMs = 300_000;

/** Whether the Pod is verified as a launcher. */
export const isLauncher = ({ name, ledgerName }: Pick<Pod, 'name' | 'ledgerName'>): boolean => name !== ledgerName;

/** Whether the Pod claims to be a launcher and is neither verified nor rejected. */
export const isUnverifiedLauncher = (pod: Pod): boolean =>
  pod.claimedMachine !== undefined && !isLauncher(pod) && pod.claimRefusal === '';

/** The Pod with the identity of the machine that it claims. */
export const asVirtualMachine = (pod: Pod): Pod =>
  pod.claimedMachine
    ? { ...pod, ledgerName: pod.claimedMachine.name, ledgerUid: pod.claimedMachine.uid, claimRefusal: '' }
    : pod;

export class LauncherVerifier {
  readonly objects = new Map<string, Pod>();
  readonly #options: LauncherVerifierOptions;
  readonly #queue: WorkQueue;
  readonly #listeners: ((change: ObjectChange<Pod>) => void)[] = [];

  /** Create it before other subscribers of `pods`, so that they find it up to date. */
  constructor(options: LauncherVerifierOptions) {
    this.#options = options;
    const { pods, log, signal } = options;
    const work = (key: string) => this.#verify(key);
    this.#queue = new WorkQueue({ concurrency, firstBackoffMs, maxBackoffMs, work, log, signal });
    this.#queue.start();
    for (const pod of pods.objects.values()) this.#put(pod);
    pods.subscribe((change) => {
      if (change.kind === 'present') this.#put(change.object);
      else if (change.kind === 'gone') this.#drop(change.object, change.witnessed);
      else this.#notify(change);
    });
  }

  /** As Informer.subscribe. */
  subscribe(listener: (change: ObjectChange<Pod>) => void): void {
    this.#listeners.push(listener);
  }

  #put(object: Pod): void {
    const known = this.objects.get(keyOf(object));
    const pod = known?.uid === object.uid ? withIdentityOf(known, object) : object;
    this.#set(pod);
    if (isUnverifiedLauncher(pod)) this.#queue.add(keyOf(pod));
  }

  /** The last change of a Pod has its verified identity. */
  #drop(object: Pod, witnessed: boolean): void {
    const key = keyOf(object);
    const known = this.objects.get(key);
    if (known?.uid !== object.uid) return;
    this.objects.delete(key);
    this.#notify({ kind: 'gone', object: withIdentityOf(known, object), witnessed });
  }

  #set(object: Pod): void {
    const key = keyOf(object);
    const before = this.objects.get(key);
    this.objects.set(key, object);
    this.#notify({ kind: 'present', object, before: before?.uid === object.uid ? before : undefined });
  }

  async #verify(key: string): Promise<Outcome> {
    const { lookUpMachines, log, signal } = this.#options;
    const before = this.objects.get(key);
    if (!before?.claimedMachine || isLauncher(before)) return 'done';
    const { namespace, claimedMachine } = before;
    const machines = await lookUpMachines(keyOf({ namespace, name: claimedMachine.name }), signal);
    const pod = this.objects.get(key);
    if (
      pod?.uid !== before.uid ||
      pod.claimedMachine?.uid !== claimedMachine.uid ||
      pod.claimedMachine.name !== claimedMachine.name
    )
      return 'again';
    const claimRefusal = launcherMismatch(machines.VirtualMachineInstance, claimedMachine, pod)?.text ?? '';
    if (claimRefusal === '') this.#set(asVirtualMachine(pod));
    else if (claimRefusal !== pod.claimRefusal) {
      log.info({ pod: key, uid: pod.uid, reason: claimRefusal }, 'rejected the claim of a Pod to be a launcher');
      this.#set({ ...pod, claimRefusal });
    }
    return claimRefusal === '' ? 'done' : 'again';
  }

  #notify(change: ObjectChange<Pod>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** A changed Pod, with the identity or the rejection that was decided before. */
function withIdentityOf(known: Pod, pod: Pod): Pod {
  const { claimedMachine, ledgerName, ledgerUid, claimRefusal } = known;
  if (claimedMachine === undefined || isLauncher(known))
    return { ...pod, claimedMachine, ledgerName, ledgerUid: ledgerUid, claimRefusal };
  const isSameClaim = pod.claimedMachine?.name === claimedMachine.name && pod.claimedMachine.uid === claimedMachine.uid;
  return isSameClaim ? { ...pod, claimRefusal } : pod;
}

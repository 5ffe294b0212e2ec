/**
 * Pods, with those that claim to run a virtual machine taken at their word only after the machine was seen.
 *
 * Each client that may create Pods may write any ownerReference. So a Pod that claims to be the launcher of a
 * VirtualMachineInstance goes by its own name and uid, and gets no address, until the API has shown that instance with that uid;
 * where its status lists its Pods, this one must be among them. Then it is the machine for the ledger.
 *
 * Invariant: once decided, a Pod keeps its identity, whatever is edited into its ownerReferences: an address belongs to one.
 */
import type { Logger } from '../../../lib/log.ts';
import { whyNotLauncher } from '../../../lib/pod-identity.ts';
import { type Outcome, Queue } from '../queue.ts';
import { type Change, keyOf, type Source } from './list-watch.ts';
import type { Machine, Pod } from './objects.ts';

export interface LaunchersOptions {
  readonly pods: Pick<Source<Pod>, 'objects' | 'subscribe'>;
  /** The machine "namespace/name" as the API has it at this moment. */
  readonly lookUpMachines: (
    key: string,
    signal: AbortSignal,
  ) => Promise<{ readonly VirtualMachineInstance: Machine | undefined }>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const concurrency = 16;
const firstBackoffMs = 500;
/** A claim that was refuted is looked at again seldom: any number of Pods may make one. */
const mostBackoffMs = 300_000;

/** Whether it was looked up as the launcher that it claims to be. */
export const isLauncher = ({ name, ledgerName }: Pick<Pod, 'name' | 'ledgerName'>): boolean => name !== ledgerName;

/** Whether it claims to be a launcher, and that is not decided yet. */
export const isUndecided = (pod: Pod): boolean => pod.claims !== undefined && !isLauncher(pod) && pod.doubt === '';

/** The Pod as the machine that it runs. */
export const asMachine = (pod: Pod): Pod =>
  pod.claims ? { ...pod, ledgerName: pod.claims.name, identity: pod.claims.uid, doubt: '' } : pod;

export class Launchers {
  readonly objects = new Map<string, Pod>();
  readonly #options: LaunchersOptions;
  readonly #queue: Queue;
  readonly #listeners: ((change: Change<Pod>) => void)[] = [];

  /** To be made before others subscribe to the source, so that they find it up to date. */
  constructor(options: LaunchersOptions) {
    this.#options = options;
    const { pods, log, signal } = options;
    const work = (key: string) => this.#turn(key);
    this.#queue = new Queue({ concurrency, firstBackoffMs, mostBackoffMs, work, log, signal });
    this.#queue.start();
    for (const pod of pods.objects.values()) this.#put(pod);
    pods.subscribe((change) => {
      if (change.kind === 'present') this.#put(change.object);
      else if (change.kind === 'gone') this.#drop(change.object, change.witnessed);
      else this.#tell(change);
    });
  }

  /** As Source.subscribe. */
  subscribe(listener: (change: Change<Pod>) => void): void {
    this.#listeners.push(listener);
  }

  #put(object: Pod): void {
    const known = this.objects.get(keyOf(object));
    const pod = known?.uid === object.uid ? identifiedAs(known, object) : object;
    this.#set(pod);
    if (isUndecided(pod)) this.#queue.add(keyOf(pod));
  }

  /** In its last words a Pod is who it was. */
  #drop(object: Pod, witnessed: boolean): void {
    const key = keyOf(object);
    const known = this.objects.get(key);
    if (known?.uid !== object.uid) return;
    this.objects.delete(key);
    this.#tell({ kind: 'gone', object: identifiedAs(known, object), witnessed });
  }

  #set(object: Pod): void {
    const key = keyOf(object);
    const before = this.objects.get(key);
    this.objects.set(key, object);
    this.#tell({ kind: 'present', object, before: before?.uid === object.uid ? before : undefined });
  }

  async #turn(key: string): Promise<Outcome> {
    const { lookUpMachines, log, signal } = this.#options;
    const asked = this.objects.get(key);
    if (!asked?.claims || isLauncher(asked)) return 'done';
    const { namespace, claims } = asked;
    const seen = await lookUpMachines(keyOf({ namespace, name: claims.name }), signal);
    const pod = this.objects.get(key);
    if (pod?.uid !== asked.uid || pod.claims?.uid !== claims.uid || pod.claims.name !== claims.name) return 'again';
    const doubt = whyNotLauncher(seen.VirtualMachineInstance, claims, pod)?.text ?? '';
    if (doubt === '') this.#set(asMachine(pod));
    else if (doubt !== pod.doubt) {
      log.info({ pod: key, uid: pod.uid, reason: doubt }, 'a Pod is not the launcher that it claims to be');
      this.#set({ ...pod, doubt });
    }
    return doubt === '' ? 'done' : 'again';
  }

  #tell(change: Change<Pod>): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** A Pod of which something changed, with the identity that was decided before. */
function identifiedAs(known: Pod, pod: Pod): Pod {
  const { claims, ledgerName, identity, doubt } = known;
  if (claims === undefined || isLauncher(known)) return { ...pod, claims, ledgerName, identity, doubt };
  const same = pod.claims?.name === claims.name && pod.claims.uid === claims.uid;
  return same ? { ...pod, doubt } : pod;
}

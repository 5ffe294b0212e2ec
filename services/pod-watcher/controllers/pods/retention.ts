/**
 * Retention: allocations that stay although their Pod has ended. A member of a StatefulSet keeps
 * its addresses while the StatefulSet will create it again, a virtual machine while it may be
 * started again.
 */
import { virtualMachineKind } from '../../../../lib/kubernetes/pod-identity.ts';
import type { Owner } from '../../../../proto/generated/ipledger.ts';
import type { Informer } from '../../../../lib/kubernetes/client/informer.ts';
import type { StatefulSet } from '../../kubernetes/objects/stateful-set.ts';
import { nameOf, namespaceOf } from '../../namespaced-map.ts';
import { memberReleaseReason, type ReleaseReason, ownerDeleted } from './pod-owner.ts';
import { statefulSetOrdinal } from '../../../../lib/kubernetes/stateful-set.ts';
import type { VirtualMachineObject } from '../../kubernetes/objects/virtual-machine.ts';

/** The objects that the API has of one machine at this moment. */
export interface VirtualMachines {
  readonly VirtualMachine: VirtualMachineObject | undefined;
  readonly VirtualMachineInstance: VirtualMachineObject | undefined;
}

/**
 * Looks up a machine, of which the informers have only the metadata.
 * @param key "namespace/name"
 */
type LookUpVirtualMachines = (key: string, signal: AbortSignal) => Promise<VirtualMachines>;

/**
 * Returns why a machine will not run again; undefined while it may, or runs.
 * @param refused the uids of running Pods whose claim to be its launcher was refused. The instance
 * may list one of them since, after the start of a migration
 */
export function virtualMachineReleaseReason(
  { VirtualMachine: machine, VirtualMachineInstance: instance }: VirtualMachines,
  owner: Owner,
  refused: readonly string[] = [],
): ReleaseReason | undefined {
  if (instance?.uid === owner.uid && refused.some((uid) => instance.activePods?.has(uid))) return undefined;
  if (machine) return machine.deleting ? ownerDeleted(`VirtualMachine ${owner.name} is being deleted`) : undefined;
  const named = `VirtualMachineInstance ${owner.name} (uid ${owner.uid})`;
  if (instance?.uid !== owner.uid) return ownerDeleted(`there is no VirtualMachine ${owner.name}, and no ${named}`);
  return instance.deleting
    ? ownerDeleted(`there is no VirtualMachine ${owner.name}, and ${named} is being deleted`)
    : undefined;
}

export interface RetentionOptions {
  readonly statefulSets: Pick<Informer<StatefulSet>, 'objects'>;
  /** Reads the StatefulSet "namespace/name" from the API. */
  readonly lookUpStatefulSet: (key: string, signal: AbortSignal) => Promise<StatefulSet | undefined>;
  readonly lookUpMachines: LookUpVirtualMachines;
  readonly signal: AbortSignal;
}

export class Retention {
  readonly #options: RetentionOptions;
  /** Machines "namespace/name" that did not run at their last look-up, and may be started again. */
  readonly #stopped = new Set<string>();

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /**
   * Looks up why the owner will not create a Pod again; 'retained' while it will.
   * @param refused see virtualMachineReleaseReason
   * @returns undefined for owners that retain nothing
   */
  async releaseReasonOf(
    key: string,
    owner: Owner | undefined,
    refused?: readonly string[],
  ): Promise<ReleaseReason | 'retained' | undefined> {
    const reason = await this.#lookUpReason(key, owner, refused);
    if (owner?.kind === virtualMachineKind && reason === 'retained') this.#stopped.add(key);
    else this.#stopped.delete(key);
    return reason;
  }

  /** The machines "namespace/name" whose addresses are retained while they do not run. */
  get stoppedMachines(): Iterable<string> {
    return this.#stopped;
  }

  /** Whether a Pod's owner will create it again, without a look-up. */
  isExpectedBack(key: string, owner: Owner | undefined): boolean {
    if (this.#stopped.has(key)) return true;
    const member = statefulSetOrdinal({ name: nameOf(key) }, owner);
    if (!owner || member === undefined) return false;
    const set = this.#options.statefulSets.objects.get(statefulSetKey(key, owner));
    return memberReleaseReason(set, owner, member) === undefined;
  }

  /** Forgets a name that no longer holds allocations. */
  forget(key: string): void {
    this.#stopped.delete(key);
  }

  /** Looks up the StatefulSet before a member is released: the watch may lag behind. */
  async #lookUpReason(
    key: string,
    owner: Owner | undefined,
    refused?: readonly string[],
  ): Promise<ReleaseReason | 'retained' | undefined> {
    const { statefulSets, lookUpStatefulSet, lookUpMachines, signal } = this.#options;
    if (owner?.kind === virtualMachineKind)
      return virtualMachineReleaseReason(await lookUpMachines(key, signal), owner, refused) ?? 'retained';
    const member = statefulSetOrdinal({ name: nameOf(key) }, owner);
    if (!owner || member === undefined) return undefined;
    const set = statefulSetKey(key, owner);
    if (!memberReleaseReason(statefulSets.objects.get(set), owner, member)) return 'retained';
    return memberReleaseReason(await lookUpStatefulSet(set, signal), owner, member) ?? 'retained';
  }
}

const statefulSetKey = (key: string, { name }: Owner): string => `${namespaceOf(key)}/${name}`;

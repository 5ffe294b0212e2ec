/**
 * The NICs that containers can use at this moment, on all nodes: what the network itself would
 * show. No part of ipledger knows it. A NIC is in use from the answer to its ADD until its DEL
 * begins, its network namespace is removed, or its node loses power.
 */
import type { World } from '../kernel/world.ts';

export interface Nic {
  readonly node: string;
  readonly containerId: string;
  readonly interface: string;
  /** "namespace/name" and uid in the ledger: those of the machine for a launcher. */
  readonly pod: string;
  readonly uid: string;
  readonly isMachine: boolean;
  readonly provider: string;
  readonly addresses: readonly string[];
  /** '': the link has a random one. */
  readonly mac: string;
}

export class NicsInUse {
  readonly #world: World;
  readonly isOfLivingPod: (nic: Nic) => boolean;
  readonly #nics = new Map<string, Nic>();
  /** By "network address" and "network MAC". */
  readonly #holders = new Map<string, Nic>();

  /** @param isOfLivingPod whether the API server has the Pod of a NIC, and it may run */
  constructor(world: World, isOfLivingPod: (nic: Nic) => boolean) {
    this.#world = world;
    this.isOfLivingPod = isOfLivingPod;
  }

  /** Records a NIC, which may share its address only as `#mayShare` permits. */
  add(nic: Nic): void {
    this.#world.trace(`${nic.pod} uses ${nic.addresses.join(',')} on ${nic.node} as ${nic.containerId}`);
    for (const key of keysOf(nic)) {
      const other = this.#holders.get(key);
      if (other && !this.#mayShare(other, nic))
        this.#world.fail('one holder', `${key} is used by ${describe(other)} and by ${describe(nic)}`);
      this.#holders.set(key, nic);
    }
    this.#nics.set(idOf(nic), nic);
  }

  /** The NICs that match are used no longer. */
  remove(matches: (nic: Nic) => boolean): void {
    for (const [id, nic] of this.#nics) {
      if (!matches(nic)) continue;
      this.#nics.delete(id);
      for (const key of keysOf(nic)) {
        if (this.#holders.get(key) !== nic) continue;
        const heir = [...this.#nics.values()].find((each) => keysOf(each).includes(key));
        if (heir) this.#holders.set(key, heir);
        else this.#holders.delete(key);
      }
    }
  }

  get all(): readonly Nic[] {
    return [...this.#nics.values()];
  }

  /**
   * Two launchers of one machine have the same address while it migrates. And on one node the next
   * Pod of a name may start while a container of the earlier one ends, if that one was deleted by
   * force. Its ADD may also end after that of the next Pod. A Pod itself has one container at a
   * time.
   */
  #mayShare(one: Nic, other: Nic): boolean {
    if (one.pod !== other.pod) return false;
    if (one.uid === other.uid) return isLauncherPair(one, other);
    return one.node === other.node && !(this.isOfLivingPod(one) && this.isOfLivingPod(other));
  }
}

const idOf = (nic: Nic): string => `${nic.node} ${nic.containerId} ${nic.interface}`;

const keysOf = ({ provider, addresses, mac }: Nic): string[] =>
  [...addresses, ...(mac === '' ? [] : [mac])].map((each) => `${provider} ${each}`);

const isLauncherPair = (one: Nic, other: Nic): boolean => one.isMachine && other.isMachine;

const describe = ({ pod, uid, node, containerId }: Nic): string => `${pod} (${uid}) in ${containerId} on ${node}`;

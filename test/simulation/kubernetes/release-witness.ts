/**
 * Checks each release and each transfer that is committed: no Pod that lives, no static Pod that
 * runs, and no member that its StatefulSet will create again loses its address.
 */
import type { StoredEvent } from '../../../ledger/log/chain/chain.ts';
import type { AddressReleased } from '../../../ledger/domain/events/event.ts';
import type { Attachment, Owner } from '../../../ledger/domain/values/allocation.ts';
import { includesMember, membersOf, statefulSetOrdinal } from '../../../lib/kubernetes/stateful-set.ts';
import type { StoredObject } from './api-server.ts';
import type { SimulatedCluster } from './cluster.ts';
import { nameOf, namespace } from './cluster-user.ts';
import { providerOf } from './cni-plugin.ts';
import type { Nic } from './nics-in-use.ts';
import { identityOf, isLiving, requestedNetworks } from './pod-identity.ts';

export class ReleaseWitness {
  readonly #cluster: SimulatedCluster;
  /** The owner of each allocation, by its event. */
  readonly #owners = new Map<number, Owner | undefined>();
  /** "uid address" of each conflict on the wire. A restored backup may be older than it. */
  readonly #givenUp = new Set<string>();

  constructor(cluster: SimulatedCluster) {
    this.#cluster = cluster;
  }

  read({ sequenced: event }: StoredEvent): void {
    if (event.type === 'AddressAllocated' || event.type === 'AddressTransferred')
      this.#owners.set(event.seq, event.data.owner);
    if (event.type === 'AddressTransferred') {
      const { attachment, fromUid, uid, addresses } = event.data;
      const moved = addresses.map(({ address }) => address).join(',');
      this.#checkLoss(
        attachment.pod,
        fromUid,
        `${moved} of Pod ${attachment.pod} (${fromUid}) is transferred to ${uid}`,
      );
    }
    if (event.type === 'AddressReleased') this.#checkRelease(event.data);
  }

  #checkRelease({ alloc, attachment, uid, addresses, cause }: AddressReleased['data']): void {
    const released = `${addresses.join(',')} of Pod ${attachment.pod} (${uid}) is released (${cause})`;
    // The Pod has not used the address, and gets another one or an error
    if (cause === 'address-conflict') for (const each of addresses) this.#givenUp.add(`${uid} ${each}`);
    if (addresses.every((each) => this.#givenUp.has(`${uid} ${each}`))) return;
    if (cause === 'detached') return this.#checkDetached(attachment, uid, released);
    if (cause === 'operator') return this.#checkReplaced(attachment, uid, { addresses, released });
    this.#checkLoss(attachment.pod, uid, released);
    if (cause !== 'scaled-down' && this.#willReturn(attachment, this.#owners.get(alloc)))
      this.#cluster.world.fail('members keep their addresses', `${released}, which its StatefulSet creates again`);
  }

  /** An operator recovers a ledger: a Pod may have another address than its backup has. */
  #checkReplaced(
    { provider }: Attachment,
    uid: string,
    { addresses, released }: { readonly addresses: readonly string[]; readonly released: string },
  ): void {
    const { world, nics } = this.#cluster;
    const uses = (nic: Nic): boolean =>
      nic.uid === uid && nic.provider === provider && nic.addresses.some((each) => addresses.includes(each));
    const nic = nics.all.find((each) => uses(each) && nics.isOfLivingPod(each));
    if (nic) world.fail('used addresses are kept', `${released}, and ${nic.containerId} on ${nic.node} uses it`);
  }

  /** A Pod that no longer requests a network keeps the address while a container uses it. */
  #checkDetached({ provider, pod }: Attachment, uid: string, released: string): void {
    const { world, nics } = this.#cluster;
    const nic = nics.all.find((each) => each.uid === uid && each.provider === provider && each.pod.endsWith(`/${pod}`));
    if (nic) world.fail('used addresses are kept', `${released}, and ${nic.containerId} on ${nic.node} uses it`);
  }

  #checkLoss(name: string, uid: string, lost: string): void {
    const { world, user, nodes, nics } = this.#cluster;
    const living = user.pods().find((pod) => {
      const identity = identityOf(pod);
      return identity.name === name && identity.uid === uid && !identity.isStatic && isLiving(pod);
    });
    if (living) world.fail('living Pods keep their addresses', `${lost}, which lives`);
    const isPlaced = nodes.some(({ manifests }) => [...manifests.values()].some(({ hash }) => hash === uid));
    const nic = nics.all.find((each) => each.uid === uid);
    if (isPlaced && nic)
      world.fail('static Pods keep their addresses', `${lost}, whose container ${nic.containerId} runs`);
  }

  /**
   * A member that was created again without this network, or on the network of its node, needs no
   * address of it. A set that was scaled down for a moment may have decided before.
   */
  #willReturn({ pod: name, provider }: Attachment, owner: Owner | undefined): boolean {
    const member = statefulSetOrdinal({ name }, owner);
    const present = this.#cluster.user.pods().filter((pod) => nameOf(pod) === name);
    if (member === undefined || present.some((pod) => !requests(pod, provider))) return false;
    const sets = this.#cluster.user.model.objectsOf({ kind: '/apis/apps/v1/statefulsets', namespace }).map(membersOf);
    return sets.some((set) => set.uid === owner?.uid && includesMember(set, member));
  }
}

const requests = (pod: StoredObject, provider: string): boolean =>
  requestedNetworks(pod).map(providerOf).includes(provider);

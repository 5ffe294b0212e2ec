/**
 * Checks the events of a ledger independently of the state. It fails at the first event that gives
 * a Pod an address or MAC that another Pod has on the same network, that a container of another Pod
 * may still use, or that is reserved for another owner. It also fails at an event that gives
 * anything to an ended Pod.
 */
import { expect } from 'chai';
import type { AddressAllocated, AddressTransferred, Event } from '../events/event.ts';
import { networkOf } from '../state/network.ts';

/** The users of one address or MAC of a network. */
interface Use {
  holder?: { readonly nic: string; readonly seq: number };
  /**
   * The containers that may answer, by "container/interface": their Pod, the address, the boot of
   * their node, and until when (milliseconds since 1970).
   */
  readonly containers: Map<string, Container>;
}

interface Container {
  readonly pod: string;
  readonly address: string;
  readonly node: string;
  readonly bootId: string;
  until: number;
}

type Granted = (AddressAllocated | AddressTransferred)['data'];

export class HolderWitness {
  readonly #bindingTimeoutMs: number;
  /** Keyed by network and address, and by network and MAC. */
  readonly #uses = new Map<string, Use>();
  readonly #grants = new Map<number, { readonly subnet: string; readonly data: Granted }>();
  readonly #ended = new Set<string>();
  /** The owners of reservations, by "subnet/address". */
  readonly #reserved = new Map<string, string>();

  constructor(bindingTimeoutMs: number) {
    this.#bindingTimeoutMs = bindingTimeoutMs;
  }

  hasEnded(pod: string, uid: string): boolean {
    return this.#ended.has(`${pod} ${uid}`);
  }

  /** Whether another uid of the name got an address after `seenSeq`. */
  hasLater({ name, uid }: { readonly name: string; readonly uid: string }, seenSeq: number | undefined): boolean {
    if (seenSeq === undefined) return false;
    return [...this.#grants].some(
      ([seq, { data }]) => seq > seenSeq && data.attachment.pod === name && data.uid !== uid,
    );
  }

  read(event: Event, seq: number, at: number): void {
    const { subnet } = event;
    if (event.type === 'AddressReserved')
      for (const each of event.data.addresses) this.#reserved.set(`${subnet}/${each}`, event.data.reservedFor);
    if (event.type === 'ReservationCancelled')
      for (const each of event.data.addresses) this.#reserved.delete(`${subnet}/${each}`);
    if (event.type === 'AddressAllocated' || event.type === 'AddressTransferred') {
      const { data } = event;
      if ('alloc' in data) this.#endGrant(data.alloc, data.ended === true, at);
      // An operator may import what a Pod has that was recorded as ended by mistake
      if (data.cause !== 'import')
        expect(this.hasEnded(data.attachment.pod, data.uid), 'the Pod has ended').to.equal(false);
      this.#grants.set(seq, { subnet, data });
      this.#give({ subnet, data }, seq, at);
    } else if (event.type === 'AddressReleased') this.#endGrant(event.data.alloc, event.data.ended === true, at);
    else if (event.type === 'AddressBound') {
      const { alloc, attachment, addresses, containerId, interface: name, node, bootId } = event.data;
      const mac = this.#grants.get(alloc)?.data.mac ?? '';
      // A container that is bound again to its address no longer uses the MAC of the grant before
      this.#endUses(addresses, `${containerId}/${name}`);
      for (const address of addresses)
        for (const use of this.#usesOf(subnet, attachment.provider, address, mac)) {
          endEarlierBoots(use, { address, node, bootId });
          this.#expectNoOther(use, { pod: attachment.pod, addresses, at });
          const { pod } = attachment;
          use.containers.set(`${containerId}/${name}`, { pod, address, node, bootId, until: Infinity });
        }
    } else if (event.type === 'AddressUnbound') {
      const { addresses, containerId, interface: name } = event.data;
      this.#endUses(addresses, `${containerId}/${name}`);
    }
  }

  #endUses(addresses: readonly string[], sandbox: string): void {
    for (const { containers } of this.#uses.values())
      if (addresses.includes(containers.get(sandbox)?.address ?? '')) containers.delete(sandbox);
  }

  #give({ subnet, data }: { readonly subnet: string; readonly data: Granted }, seq: number, at: number): void {
    const { attachment, mac } = data;
    const { pod, provider, ordinal } = attachment;
    const nic = `${pod} ${provider}/${ordinal}`;
    const addresses = data.addresses.map(({ address }) => address);
    const owner = `pod/${attachment.namespace}/${pod}/${provider}`;
    for (const address of addresses)
      expect(this.#reserved.get(`${subnet}/${address}`) ?? owner, 'it is reserved').to.equal(owner);
    for (const address of addresses)
      for (const use of this.#usesOf(subnet, provider, address, mac)) {
        expect(use.holder?.nic ?? nic, 'another NIC holds it').to.equal(nic);
        this.#expectNoOther(use, { pod, addresses, at });
        use.holder = { nic, seq };
      }
  }

  /** Ignores containers of the same Pod name: Bind decides about those. */
  #expectNoOther(use: Use, { pod, addresses, at }: { pod: string; addresses: readonly string[]; at: number }): void {
    for (const [sandbox, { pod: user, address, until }] of use.containers)
      if (until <= at) use.containers.delete(sandbox);
      else {
        expect(user, `of container ${sandbox}, which may answer`).to.equal(pod);
        expect(addresses, `of container ${sandbox}, which may answer`).to.include(address);
      }
  }

  #endGrant(seq: number, ended: boolean, at: number): void {
    const grant = this.#grants.get(seq);
    if (!grant) return;
    const { subnet, data } = grant;
    if (ended) this.#ended.add(`${data.attachment.pod} ${data.uid}`);
    for (const { address } of data.addresses)
      for (const use of this.#usesOf(subnet, data.attachment.provider, address, data.mac)) {
        if (use.holder?.seq === seq) delete use.holder;
        for (const container of use.containers.values())
          if (container.address === address) container.until = at + this.#bindingTimeoutMs;
      }
    this.#grants.delete(seq);
  }

  #usesOf(subnet: string, provider: string, address: string, mac: string): readonly Use[] {
    return [address, ...(mac === '' ? [] : [mac])].map((what) => {
      const key = `${networkOf(provider, subnet)} ${what}`;
      const use = this.#uses.get(key) ?? { containers: new Map() };
      this.#uses.set(key, use);
      return use;
    });
  }
}

/** A node that has booted again runs none of its earlier containers. */
function endEarlierBoots({ containers }: Use, bound: Pick<Container, 'address' | 'node' | 'bootId'>): void {
  for (const [sandbox, { address, node, bootId }] of containers)
    if (address === bound.address && node === bound.node && bootId !== bound.bootId) containers.delete(sandbox);
}

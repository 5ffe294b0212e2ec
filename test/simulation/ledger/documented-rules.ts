/**
 * What the documents state about single events, checked before the address book reads each: it
 * shares no rule with the ledger.
 */
import ipaddr from 'ipaddr.js';
import type {
  AddressAllocated,
  AddressBound,
  AddressReserved,
  AddressTransferred,
  Sequenced,
} from '../../../ledger/domain/events/event.ts';
import { networkOf } from '../../../ledger/domain/state/network.ts';
import type { SubnetSpec } from '../../../ledger/domain/values/configuration.ts';
import type { AddressBook, Container } from './address-book.ts';

/** These release causes end the Pod. */
const endingCauses = ['pod-deleted', 'pod-completed', 'scaled-down', 'owner-deleted', 'garbage-collected'];
/** The uid of a static Pod returns. */
const isStaticPod = (uid: string): boolean => /^[0-9a-f]{32}$/.test(uid);

export class DocumentedRules {
  readonly #book: AddressBook;
  readonly #fail: (what: string) => void;
  readonly #specs = new Map<string, SubnetSpec>();
  /** The owners of reserved MACs, by "network mac subnet/address". */
  readonly #reservedMacs = new Map<string, { readonly mac: string; readonly owner: string }>();

  constructor(book: AddressBook, fail: (what: string) => void) {
    this.#book = book;
    this.#fail = fail;
  }

  check(event: Sequenced): void {
    const wrong = (what: string): void => this.#fail(`event ${event.seq} (${event.type}) ${what}`);
    switch (event.type) {
      case 'SubnetConfigured':
        this.#specs.set(event.subnet, event.data.spec);
        return;
      case 'AddressAllocated':
      case 'AddressTransferred':
        return this.#checkGrant(event, wrong);
      case 'AddressReleased': {
        const { cause, uid, ended = false } = event.data;
        if (ended !== (endingCauses.includes(cause) && !isStaticPod(uid)))
          wrong(`${ended ? 'ends' : 'does not end'} uid ${uid}, which is released for the cause ${cause}`);
        return;
      }
      case 'AddressBound':
        return this.#checkBound(event, wrong);
      case 'AddressReserved':
        return this.#checkReserved(event, wrong);
      case 'ReservationCancelled':
        for (const address of event.data.addresses) this.#reservedMacs.delete(`${event.subnet}/${address}`);
        return;
      default:
    }
  }

  #checkGrant(event: Sequenced<AddressAllocated | AddressTransferred>, wrong: (what: string) => void): void {
    const { subnet, data } = event;
    const { attachment, addresses, mac, cause } = data;
    if ('fromUid' in data && (data.ended ?? false) === isStaticPod(data.fromUid))
      wrong(`${data.ended ? 'ends' : 'does not end'} the earlier uid ${data.fromUid}`);
    const spec = this.#specs.get(subnet);
    for (const { address, cidr, gateway } of addresses) {
      const own = spec?.cidrBlock.split(',').findIndex((each) => isInside(address, each)) ?? -1;
      const expected = { cidr: spec?.cidrBlock.split(',')[own], gateway: spec?.gateway.split(',')[own] };
      if (own < 0 && cause === 'dynamic' && event.type === 'AddressAllocated')
        wrong(`allocates ${address}, which is outside of ${spec?.cidrBlock}`);
      if (own >= 0 && (cidr !== expected.cidr || gateway !== expected.gateway))
        wrong(`gives ${address} with ${cidr} and ${gateway}, and the Subnet has ${JSON.stringify(expected)}`);
    }
    if (mac === '') return;
    const owner = `pod/${attachment.namespace}/${attachment.pod}/${attachment.provider}`;
    const network = networkOf(attachment.provider, subnet);
    for (const [place, reserved] of this.#reservedMacs)
      if (reserved.mac === `${network} ${mac}` && reserved.owner !== owner)
        wrong(`gives ${owner} MAC ${mac}, which ${place} reserves for ${reserved.owner}`);
  }

  /**
   * A container of another node may answer until its binding ends, or the timeout after its end of
   * right.
   */
  #checkBound({ subnet, at, data }: Sequenced<AddressBound>, wrong: (what: string) => void): void {
    const timeoutMs = this.#specs.get(subnet)?.bindingTimeoutMs ?? Infinity;
    const period = this.#book.periods.get(data.alloc);
    const mayAnswer = (each: Container): boolean =>
      each.node !== data.node &&
      !(period?.isMachine === true && each.alloc === data.alloc) &&
      Math.max(each.at, period?.at ?? 0) + timeoutMs > at;
    for (const address of data.addresses) {
      const other = this.#book.get(subnet, address)?.containers.find(mayAnswer);
      if (other) wrong(`binds ${address} on ${data.node}, and container ${other.sandbox} on ${other.node} may answer`);
    }
  }

  #checkReserved({ subnet, data }: Sequenced<AddressReserved>, wrong: (what: string) => void): void {
    const { addresses, reservedFor, mac } = data;
    const network = networkOf(this.#specs.get(subnet)?.provider ?? '', subnet);
    for (const address of addresses) {
      const holder = this.#book.get(subnet, address)?.holder;
      if (holder && holder.owner !== reservedFor)
        wrong(`reserves ${address} for ${reservedFor}, and ${holder.owner} has it`);
      if (mac !== '') this.#reservedMacs.set(`${subnet}/${address}`, { mac: `${network} ${mac}`, owner: reservedFor });
    }
    if (mac === '') return;
    const user = this.#book.held.find(
      (each) => each.mac === mac && each.network === network && each.owner !== reservedFor,
    );
    if (user) wrong(`reserves MAC ${mac} for ${reservedFor}, and ${user.owner} has it`);
  }
}

function isInside(address: string, cidr: string): boolean {
  const [parsed, range] = [ipaddr.parse(address), ipaddr.parseCIDR(cidr)];
  return parsed.kind() === range[0].kind() && parsed.match(range);
}

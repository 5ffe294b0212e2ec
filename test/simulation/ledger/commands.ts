/**
 * Random requests of clients: generations of names, late and repeated requests, edits of Subnets.
 */
import { pickWeighted, type SeededRandom } from '../../faults/seeded-random.ts';
import type { Method } from '../../../proto/codec.ts';
import { IpamService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import type { AddressBook } from './address-book.ts';
import { outsideAddress } from './answer-witness.ts';
import { bindingTimeoutMs, cooldownMs, pools, type SubnetName, subnetNames, subnets } from './subnets.ts';

/** A request of a client. */
export interface Command {
  readonly what: string;
  readonly method: Method<never, { readonly position?: unknown }, 'unary'>;
  /** A function makes it when it is sent, from what the ledger has then. */
  readonly request: object | ((book: AddressBook) => object);
  /** The request was made when the client had seen the events up to so many before the last one. */
  readonly lag?: number | undefined;
}

const names = ['a', 'b', 'c', 'd'];
const macs = ['02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:03'];
const nodes = ['node-1', 'node-2'];
const member = { owner: { kind: 'StatefulSet', name: 'set', uid: 'set-1' } };
const machine = { owner: { kind: 'VirtualMachineInstance', name: 'machine', uid: 'machine-1' } };
const timeouts = { cooldownMs, bindingTimeoutMs };

/** Few of them, so that Pods of a name meet. */
const likelySubnets: readonly SubnetName[] = ['lan', 'lan', 'lan', 'overlay', 'dual', 'lan2'];

/** Makes commands. Names have generations, which advance with the number of commands. */
export class CommandSource {
  readonly #random: SeededRandom;
  readonly #generations = new Map<string, number>();
  readonly #hasTimeout: boolean;

  constructor(random: SeededRandom) {
    this.#random = random;
    this.#hasTimeout = random.nextBoolean(0.5);
  }

  /** The binding timeout of all Subnets; undefined for none. */
  get bindingTimeoutMs(): number | undefined {
    return this.#hasTimeout ? bindingTimeoutMs : undefined;
  }

  /** The first commands, which make the Subnets. */
  first(): Command[] {
    return subnetNames.slice(0, 3).map((name) => this.applySubnet(name));
  }

  next(): Command {
    const make = pickWeighted<() => Command>(this.#random, [
      [30, () => this.#allocate()],
      [14, () => this.#release()],
      [2, () => this.#releaseOne()],
      [12, () => this.#bind()],
      [8, () => this.#unbind()],
      [4, () => this.#reserve()],
      [3, () => this.#unreserve()],
      [2, () => this.#quarantine('quarantine')],
      [2, () => this.#quarantine('unquarantine')],
      [4, () => this.applySubnet(this.#random.pick(subnetNames))],
      [1, () => this.#deleteSubnet()],
      [1, () => this.#pool()],
      [5, () => this.list()],
    ]);
    return make();
  }

  list(): Command {
    const request = { consistency: 'CONSISTENCY_LINEARIZABLE' };
    return command('list the allocations', IpamService.listAllocations, request);
  }

  applySubnet(name: SubnetName, isPlain = false): Command {
    const { provider, cidrs, gateway } = subnets[name];
    const cidrBlock = isPlain || this.#random.nextBoolean(0.6) ? cidrs[0] : this.#random.pick(cidrs);
    const limit = !isPlain && this.#random.nextBoolean(0.1) ? { maxAddressesPerNamespace: 3 } : {};
    const { bindingTimeoutMs: timeoutMs } = this;
    const times = timeoutMs === undefined ? { cooldownMs } : timeouts;
    const spec = { cidrBlock, gateway, provider, ...times, ...limit };
    return command(`apply Subnet ${name} ${cidrBlock}${JSON.stringify(limit)}`, SubnetsService.applySubnet, {
      name,
      spec,
    });
  }

  /** A uid of a name: the newest, a new one, or an earlier one whose request is late. */
  #pod(mayBeNew = false): { readonly pod: string; readonly uid: string } {
    const pod = this.#random.pick(names);
    let generation = this.#generations.get(pod) ?? 1;
    if (mayBeNew && this.#random.nextBoolean(0.3)) this.#generations.set(pod, ++generation);
    else if (this.#random.nextBoolean(0.25)) generation = Math.max(1, generation - 1 - this.#random.nextInt(2));
    // A static Pod has the hash of its manifest as its uid, which returns
    return {
      pod,
      uid: pod === 'd' ? '0123456789abcdef0123456789abcde'.padEnd(32, String(generation % 10)) : `${pod}${generation}`,
    };
  }

  #allocate(): Command {
    const { pod, uid } = this.#pod(true);
    const subnet = this.#random.pick(likelySubnets);
    const { provider, addresses } = subnets[subnet];
    const others = subnetNames.filter((each) => each !== subnet && subnets[each].provider === provider);
    const requested = [subnet, ...(this.#random.nextBoolean(0.2) ? others : [])];
    const isStatic = this.#random.nextBoolean(0.25);
    const candidates = isStatic ? [{ addresses: [this.#random.pick(addresses)] }] : [];
    const mac = this.#random.nextBoolean(0.2) ? this.#random.pick(macs) : '';
    const pool = this.#random.nextBoolean(0.05) ? 'blue' : '';
    const first = { provider, subnets: requested, candidates, mac, pool };
    const second = { provider, ordinal: 1, subnets: requested };
    const attachments = this.#random.nextBoolean(0.2) ? [first, second] : [first];
    const owner = this.#random.pick([{}, {}, member, machine]);
    const lag = this.#random.pick([undefined, 0, 0, 0, 2, 5]);
    const what = `allocate ${uid} in ${requested.join()}${isStatic ? ` ${candidates[0]?.addresses.join()}` : ''}${mac && ` MAC ${mac}`}${attachments.length > 1 ? ' twice' : ''}${lag === undefined ? '' : ` as seen ${lag} events ago`}`;
    const request = {
      pod: { namespace: 'default', name: pod, uid, ...owner },
      attachments,
      validMs: this.#random.pick([0, 0, 3_000]),
    };
    return { ...command(what, IpamService.allocate, request), lag };
  }

  #release(): Command {
    const { pod, uid } = this.#pod();
    const cause = this.#random.nextBoolean(0.8) ? 'RELEASE_CAUSE_POD_DELETED' : 'RELEASE_CAUSE_OPERATOR';
    const request = { namespace: 'default', pod, podUid: uid, cause };
    return command(
      `release ${uid}${cause.endsWith('OPERATOR') ? ' by an operator' : ''}`,
      IpamService.release,
      request,
    );
  }

  /** Releases one of the allocations of a Pod. */
  #releaseOne(): Command {
    const pod = this.#random.pick(names);
    return command(`release the first allocation of Pod ${pod}`, IpamService.release, (book: AddressBook) => {
      const [first] = book.held.filter((each) => each.pod === pod);
      const one = { podUid: first?.uid ?? 'none', allocationSeq: first?.seq ?? 1 };
      return { namespace: 'default', pod, cause: 'RELEASE_CAUSE_DETACHED', ...one };
    });
  }

  #container() {
    return {
      containerId: `container-${this.#random.nextInt(5)}`,
      interface: this.#random.pick(['net1', 'net1', 'net2']),
    };
  }

  #bind(): Command {
    const { pod, uid } = this.#pod();
    const { provider } = subnets[this.#random.pick(likelySubnets)];
    const container = this.#container();
    const node = this.#random.pick(nodes);
    const bootId = `boot-${1 + (this.#random.nextBoolean(0.1) ? 1 : 0)}`;
    const request = { namespace: 'default', pod, podUid: uid, provider, ...container, node, bootId };
    const what = `${uid} to ${container.containerId}/${container.interface} on ${node} ${bootId}`;
    return this.#random.nextBoolean(0.5)
      ? command(`bind ${what}`, IpamService.bind, request)
      : command(`attach ${what}`, IpamService.attach, { ...request, timeoutMs: 300 });
  }

  #unbind(): Command {
    const container = this.#container();
    const request = {
      namespace: 'default',
      pod: this.#random.pick(names),
      provider: subnets.lan.provider,
      ...container,
    };
    return command(`unbind ${container.containerId}/${container.interface}`, IpamService.unbind, request);
  }

  #reserve(): Command {
    const subnet = this.#random.pick(subnetNames.slice(0, 3));
    const reservedFor = this.#owner(subnet);
    const isStatic = this.#random.nextBoolean(0.7);
    const addresses = isStatic ? [this.#random.pick(subnets[subnet].addresses)] : [];
    const mac = this.#random.nextBoolean(0.2) ? this.#random.pick(macs) : '';
    const request = { subnet, addresses, reservedFor, reason: 'simulation', mac };
    return command(
      `reserve ${addresses.join() || 'an address'} of ${subnet} for ${reservedFor} ${mac}`,
      IpamService.reserve,
      request,
    );
  }

  #unreserve(): Command {
    const subnet = this.#random.pick(subnetNames.slice(0, 3));
    const reservedFor = this.#owner(subnet);
    return command(`unreserve ${subnet} for ${reservedFor}`, IpamService.unreserve, {
      subnet,
      reservedFor,
      reason: 'simulation',
    });
  }

  #owner(subnet: SubnetName): string {
    return this.#random.nextBoolean(0.5)
      ? 'vip/web'
      : `pod/default/${this.#random.pick(names)}/${subnets[subnet].provider}`;
  }

  #quarantine(kind: 'quarantine' | 'unquarantine'): Command {
    const subnet = this.#random.pick(subnetNames.slice(0, 3));
    const address = this.#random.nextBoolean(0.1) ? outsideAddress : this.#random.pick(subnets[subnet].addresses);
    return command(`${kind} ${address} of ${subnet}`, IpamService[kind], { subnet, address, reason: 'simulation' });
  }

  #deleteSubnet(): Command {
    const name = this.#random.pick(subnetNames);
    return command(`delete Subnet ${name}`, SubnetsService.deleteSubnet, { name });
  }

  #pool(): Command {
    const name = 'blue';
    if (this.#random.nextBoolean(0.3)) return command(`delete pool ${name}`, SubnetsService.deletePool, { name });
    return command(`apply pool ${name}`, SubnetsService.applyPool, { name, spec: pools[name] });
  }
}

export const command = (what: string, method: object, request: Command['request']): Command => ({
  what,
  method: method as Command['method'],
  request,
});

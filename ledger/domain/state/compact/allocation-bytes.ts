/**
 * Encodes an allocation as bytes. Decoding returns a value with the same JSON text, also for values
 * that another version or program wrote: a value of unusual shape is stored as JSON.
 */
import type { AssignedAddress, Owner, Route } from '../../values/allocation.ts';
import type { Allocation } from '../claim.ts';
import { type Fields, formats, requireShape } from './fields.ts';

const separateKeys: readonly (keyof Allocation)[] = ['seq', 'at', 'subnet'];
/** The keys of an allocation in their order in JSON. */
const keys: readonly (keyof Allocation)[] = [
  'attachment',
  'uid',
  'owner',
  'node',
  'addresses',
  'mac',
  'interface',
  'cause',
  'routes',
  'defaultRoute',
];
const ownerKeys: readonly (keyof Owner)[] = ['kind', 'name', 'uid'];
const addressKeys: readonly (keyof AssignedAddress)[] = ['address', 'cidr', 'gateway'];
const routeKeys: readonly (keyof Route)[] = ['dst', 'gw'];
const noRoutes: Allocation['routes'] = [];

export class AllocationBytes {
  readonly #fields: Fields;
  /** The last encoded allocation. Its claim and its Pod are encoded one after the other. */
  #last: { readonly allocation: Allocation; readonly bytes: string } | undefined;
  /** The last decoded allocations and their bytes. */
  readonly #encoded = new Map<Allocation, string>();
  readonly #decoded = new Map<string, Allocation>();
  readonly #maxKept: number;

  /** @param maxKept the number of allocations that stay decoded */
  constructor(fields: Fields, maxKept: number) {
    this.#fields = fields;
    this.#maxKept = maxKept;
  }

  encode(allocation: Allocation): string {
    const known = this.#last?.allocation === allocation ? this.#last.bytes : this.#encoded.get(allocation);
    if (known !== undefined) return known;
    const { writer } = this.#fields;
    try {
      this.#write(allocation);
    } catch {
      writer.clear();
      writer.number(formats.json);
      this.#fields.writeJson(allocation);
    }
    const bytes = writer.take();
    this.#last = { allocation, bytes };
    return bytes;
  }

  decode(bytes: string): Allocation {
    const known = this.#decoded.get(bytes);
    if (known) return known;
    const allocation = this.#read(bytes);
    this.#keep(allocation, bytes);
    return allocation;
  }

  /** Decodes an allocation without caching it, for a pass over many. */
  decodeOnce(bytes: string): Allocation {
    return this.#read(bytes);
  }

  /** Reads the event of an allocation without decoding the rest. */
  seqOf(bytes: string): number {
    const { reader } = this.#fields;
    reader.openFirst(bytes);
    return reader.number() === formats.json ? this.#read(bytes).seq : reader.number();
  }

  #keep(allocation: Allocation, bytes: string): void {
    if (this.#encoded.size >= this.#maxKept) {
      this.#encoded.clear();
      this.#decoded.clear();
    }
    this.#encoded.set(allocation, bytes);
    this.#decoded.set(bytes, allocation);
  }

  #write(allocation: Allocation): void {
    const fields = this.#fields;
    const { writer } = fields;
    const { seq, at, subnet, attachment, uid, owner, node, mac, cause } = allocation;
    requireShape(allocation, keys, separateKeys);
    writer.number(formats.compact);
    writer.number(seq);
    writer.number(at);
    fields.writeShared(subnet);
    fields.writeAttachment(attachment);
    writer.text(uid);
    this.#writeOwner(owner, attachment.pod);
    fields.writeShared(node);
    this.#writeAddresses(allocation.addresses);
    writer.text(mac);
    fields.writeShared(allocation.interface);
    fields.writeShared(cause);
    this.#writeRest(allocation);
  }

  #read(bytes: string): Allocation {
    const fields = this.#fields;
    const { reader } = fields;
    reader.open(bytes);
    if (reader.number() === formats.json) return fields.readJson() as Allocation;
    const seq = reader.number();
    const at = reader.number();
    const subnet = fields.readShared();
    const attachment = fields.readAttachment();
    const uid = reader.text();
    const owner = this.#readOwner(attachment.pod);
    const node = fields.readShared();
    const addresses = this.#readAddresses();
    const mac = reader.text();
    const name = fields.readShared();
    const cause = fields.readShared() as Allocation['cause'];
    const { routes, ...rest } = this.#readRest();
    const grant = { attachment, uid, ...(owner && { owner }), node, addresses, mac, interface: name, cause, routes };
    return { seq, at, subnet, ...grant, ...rest };
  }

  /** A Pod's name usually begins with its owner's name. Then only a length is stored. */
  #writeOwner(owner: Owner | undefined, pod: string): void {
    const { writer } = this.#fields;
    const isPrefix = owner !== undefined && pod.startsWith(owner.name);
    writer.number(owner ? (isPrefix ? owner.name.length + 2 : 1) : 0);
    if (!owner) return;
    requireShape(owner, ownerKeys);
    if (!isPrefix) writer.text(owner.name);
    this.#fields.writeShared(owner.kind);
    writer.text(owner.uid);
  }

  #readOwner(pod: string): Owner | undefined {
    const { reader } = this.#fields;
    const form = reader.number();
    if (form === 0) return undefined;
    const name = form === 1 ? reader.text() : pod.slice(0, form - 2);
    return { kind: this.#fields.readShared(), name, uid: reader.text() };
  }

  #writeAddresses(addresses: readonly AssignedAddress[]): void {
    this.#fields.writer.number(addresses.length);
    for (const each of addresses) {
      requireShape(each, addressKeys);
      this.#fields.writer.address(each.address);
      this.#fields.writeShared(each.cidr);
      this.#fields.writeShared(each.gateway);
    }
  }

  #readAddresses(): AssignedAddress[] {
    const fields = this.#fields;
    return fields.readEach(fields.reader.number(), () => {
      return { address: fields.reader.address(), cidr: fields.readShared(), gateway: fields.readShared() };
    });
  }

  /** Writes the fields that few allocations have. */
  #writeRest({ routes, defaultRoute }: Allocation): void {
    const { writer } = this.#fields;
    if (defaultRoute !== undefined && typeof defaultRoute !== 'boolean') throw new TypeError('it is not a boolean');
    writer.number(defaultRoute === undefined ? 0 : defaultRoute ? 1 : 2);
    writer.number(routes.length);
    for (const route of routes) {
      requireShape(route, routeKeys);
      writer.text(route.dst);
      writer.text(route.gw);
    }
  }

  #readRest(): Pick<Allocation, 'routes' | 'defaultRoute'> {
    const fields = this.#fields;
    const { reader } = fields;
    const isDefault = reader.number();
    const routes = fields.readEach(reader.number(), () => ({ dst: reader.text(), gw: reader.text() }));
    return {
      routes: routes.length === 0 ? noRoutes : routes,
      ...(isDefault > 0 && { defaultRoute: isDefault === 1 }),
    };
  }
}

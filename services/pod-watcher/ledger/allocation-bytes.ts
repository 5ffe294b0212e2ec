/** An allocation as bytes. */
import type { AssignedAddress } from '../../../proto/generated/ipledger.ts';
import { recordFields as fields } from '../record-fields.ts';
import type { HeldAllocation } from './held-allocation.ts';

const { reader, writer } = fields;

/** An allocation with its bytes: several indexes store the same text. */
class EncodedAllocation implements HeldAllocation {
  readonly seq: number;
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly provider: string;
  readonly ordinal: number;
  readonly subnet: string;
  readonly addresses: readonly AssignedAddress[];
  readonly mac: string;
  readonly interface: string;
  readonly node: string;
  readonly owner: HeldAllocation['owner'];
  readonly #bytes: string;

  constructor(allocation: HeldAllocation, bytes: string) {
    this.seq = allocation.seq;
    this.namespace = allocation.namespace;
    this.pod = allocation.pod;
    this.uid = allocation.uid;
    this.provider = allocation.provider;
    this.ordinal = allocation.ordinal;
    this.subnet = allocation.subnet;
    this.addresses = allocation.addresses;
    this.mac = allocation.mac;
    this.interface = allocation.interface;
    this.node = allocation.node;
    this.owner = allocation.owner;
    this.#bytes = bytes;
  }

  /** The bytes of an allocation; undefined if it was not made here. */
  static bytesOf(allocation: HeldAllocation): string | undefined {
    return #bytes in allocation ? allocation.#bytes : undefined;
  }
}

/** Returns an equal allocation of which each index stores the same bytes. */
export const encodedAllocation = (allocation: HeldAllocation): HeldAllocation =>
  new EncodedAllocation(allocation, encodeAllocation(allocation));

export function encodeAllocation(allocation: HeldAllocation): string {
  const known = EncodedAllocation.bytesOf(allocation);
  if (known !== undefined) return known;
  writer.clear();
  writer.number(allocation.seq);
  fields.writeShared(allocation.namespace);
  writer.text(allocation.pod);
  writer.text(allocation.uid);
  fields.writeTenantText(allocation.provider);
  writer.number(allocation.ordinal);
  fields.writeShared(allocation.subnet);
  writer.number(allocation.addresses.length);
  for (const { address, cidr, gateway } of allocation.addresses) {
    writer.address(address);
    fields.writeShared(cidr);
    fields.writeShared(gateway);
  }
  writer.text(allocation.mac);
  fields.writeTenantText(allocation.interface);
  fields.writeShared(allocation.node);
  fields.writeOwner(allocation.owner, allocation.pod);
  return writer.take();
}

/** The latest that were decoded: a reconciliation looks up the same ones several times. */
const decoded = new Map<string, HeldAllocation>();
const maxDecoded = 64;

export function decodeAllocation(bytes: string): HeldAllocation {
  const known = decoded.get(bytes);
  if (known) return known;
  if (decoded.size === maxDecoded) decoded.clear();
  const allocation = decodeOnce(bytes);
  decoded.set(bytes, allocation);
  return allocation;
}

/** As decodeAllocation, for a pass over many: does not keep it decoded. */
export function decodeOnce(bytes: string): HeldAllocation {
  reader.open(bytes);
  const seq = reader.number();
  const namespace = fields.readShared();
  const pod = reader.text();
  const uid = reader.text();
  const provider = fields.readTenantText();
  const ordinal = reader.number();
  const subnet = fields.readShared();
  const addresses = fields.readEach(reader.number(), () => {
    return { address: reader.address(), cidr: fields.readShared(), gateway: fields.readShared() };
  });
  const mac = reader.text();
  const name = fields.readTenantText();
  const node = fields.readShared();
  const owner = fields.readOwner(pod);
  const fixed = { seq, namespace, pod, uid, provider, ordinal, subnet, addresses, mac };
  return new EncodedAllocation({ ...fixed, interface: name, node, owner }, bytes);
}

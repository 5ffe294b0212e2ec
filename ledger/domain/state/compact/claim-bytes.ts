/**
 * Encodes a claim as bytes. Decoding returns a value with the same JSON text, also for values that
 * another version or program wrote: a value of unusual shape is stored as JSON.
 *
 * The allocation is stored apart from the claim, because both claims of a dual-stack allocation,
 * its Pod and its MAC share one allocation.
 */
import { type Allocation, type Binding, type Claim, type ClaimName, type LastRelease, standingOf } from '../claim.ts';
import { boundAllocations, type ClaimOutline } from '../claims.ts';
import { AllocationBytes } from './allocation-bytes.ts';
import { Fields, formats, isSameAttachment, requireShape } from './fields.ts';

/** One bit for each optional part of a claim. */
const parts = { released: 1, releasedPod: 2, reservation: 4, quarantine: 8, releasedMac: 16 } as const;
/** The MAC of a binding: none, the MAC of the allocation, or another MAC. */
const macs = { none: 0, holders: 2, other: 4 } as const;
const claimKeys = new Set<string>([
  'last',
  'lastAt',
  'networks',
  'allocation',
  'bindings',
  'released',
  'reservation',
  'quarantine',
] satisfies readonly (keyof Claim)[]);
const bindingKeys: readonly (keyof Binding)[] = [
  'alloc',
  'attachment',
  'containerId',
  'interface',
  'node',
  'bootId',
  'at',
  'mac',
];
const releaseKeys: readonly (keyof LastRelease)[] = ['seq', 'at', 'uid', 'pod', 'mac'];
const noBindings: Claim['bindings'] = [];

/** The values from which bindings and the release are stored as differences. */
interface Base {
  readonly last: number;
  readonly lastAt: number;
  readonly allocation: Allocation | undefined;
}

export class ClaimBytes {
  readonly allocations: AllocationBytes;
  readonly #fields: Fields;

  /** @param maxShared shared values of each kind. @param maxKept allocations that stay decoded */
  constructor(maxShared = 32_768, maxKept = 1_024) {
    this.#fields = new Fields(maxShared);
    this.allocations = new AllocationBytes(this.#fields, maxKept);
  }

  /** Encodes a claim's name. Only the bytes of that claim begin with these bytes. */
  encodeName({ subnet, address }: ClaimName): string {
    this.#fields.writeShared(subnet);
    this.#fields.writer.address(address);
    return this.#fields.writer.take();
  }

  /** Encodes a claim without its allocation. @param name the bytes of its name */
  encode(name: string, claim: Claim): string {
    const { writer } = this.#fields;
    writer.append(name);
    try {
      this.#write(claim);
    } catch {
      writer.clear();
      writer.append(name);
      writer.number(formats.json);
      const { allocation: _, ...rest } = claim;
      this.#fields.writeJson(rest);
    }
    return writer.take();
  }

  /** Reads the name of the claim. */
  decodeName(bytes: string): ClaimName {
    this.#fields.reader.open(bytes);
    return { subnet: this.#fields.readShared(), address: this.#fields.reader.address() };
  }

  /** Decodes a claim. @param allocation the allocation of the claim */
  decode(bytes: string, allocation: Allocation | undefined): Claim {
    const { reader } = this.#fields;
    this.decodeName(bytes);
    if (reader.number() === formats.json)
      return { ...(this.#fields.readJson() as Claim), ...(allocation && { allocation }) };
    const present = reader.number();
    const last = reader.number();
    const lastAt = reader.number();
    const base = { last, lastAt, allocation };
    const networks = this.#fields.readList();
    const bindings = this.#readBindings(base);
    return {
      last,
      lastAt,
      networks,
      ...(allocation && { allocation }),
      bindings,
      ...(present & parts.released && { released: this.#readRelease(base, present) }),
      ...(present & parts.reservation && { reservation: this.#fields.readJson() as NonNullable<Claim['reservation']> }),
      ...(present & parts.quarantine && { quarantine: this.#fields.readJson() as NonNullable<Claim['quarantine']> }),
    };
  }

  /** Reads the last event of a claim, its time and its standing, without decoding the rest. */
  outline(bytes: string, isTaken: boolean): Omit<ClaimOutline, 'address'> {
    const { reader } = this.#fields;
    this.decodeName(bytes);
    if (reader.number() === formats.json) {
      const claim = this.#fields.readJson() as Claim;
      return { last: claim.last, lastAt: claim.lastAt, standing: isTaken ? 'taken' : standingOf(claim) };
    }
    const present = reader.number();
    const [last, lastAt] = [reader.number(), reader.number()];
    this.#fields.readList();
    const isHeld = reader.number() > 0;
    if (isTaken) return { last, lastAt, standing: 'taken' };
    if (present & parts.quarantine) return { last, lastAt, standing: 'quarantined' };
    return { last, lastAt, standing: present & parts.reservation ? 'reserved' : isHeld ? 'held' : 'idle' };
  }

  /** Reads the allocations bound on a node, each once, without decoding the rest. */
  allocationsBoundOn(bytes: string, node: string): readonly number[] {
    const fields = this.#fields;
    const { reader } = fields;
    this.decodeName(bytes);
    if (reader.number() === formats.json) return boundAllocations(fields.readJson() as Claim).get(node) ?? [];
    reader.number();
    const last = reader.number();
    reader.number();
    fields.readList();
    const found: number[] = [];
    for (let count = reader.number(); count > 0; count--) {
      const form = reader.number();
      if (!(form & 1)) fields.readAttachment();
      const alloc = last - reader.difference();
      reader.difference();
      reader.text();
      fields.readShared();
      if (fields.readShared() === node && !found.includes(alloc)) found.push(alloc);
      fields.readShared();
      if (form & macs.other) reader.text();
    }
    return found;
  }

  #write(claim: Claim): void {
    const { last, lastAt, networks, allocation, bindings, released, reservation, quarantine } = claim;
    const { writer } = this.#fields;
    for (const key in claim) if (!claimKeys.has(key)) throw new TypeError(`"${key}" is unknown`);
    writer.number(formats.compact);
    writer.number(
      (released ? parts.released : 0) +
        (released?.pod === undefined ? 0 : parts.releasedPod) +
        (released?.mac === undefined ? 0 : parts.releasedMac) +
        (reservation ? parts.reservation : 0) +
        (quarantine ? parts.quarantine : 0),
    );
    writer.number(last);
    writer.number(lastAt);
    this.#fields.writeList(networks);
    writer.number(bindings.length);
    for (const binding of bindings) this.#writeBinding(binding, { last, lastAt, allocation });
    if (released) this.#writeRelease(released, { last, lastAt, allocation });
    if (reservation) this.#fields.writeJson(reservation);
    if (quarantine) this.#fields.writeJson(quarantine);
  }

  #writeRelease(released: LastRelease, { last, lastAt }: Base): void {
    const { writer } = this.#fields;
    requireShape(released, releaseKeys);
    writer.difference(last - released.seq);
    writer.difference(lastAt - released.at);
    writer.text(released.uid);
    if (released.pod !== undefined) writer.text(released.pod);
    if (released.mac !== undefined) writer.text(released.mac);
  }

  #readRelease({ last, lastAt }: Base, present: number): LastRelease {
    const { reader } = this.#fields;
    const seq = last - reader.difference();
    const at = lastAt - reader.difference();
    const uid = reader.text();
    return {
      seq,
      at,
      uid,
      ...(present & parts.releasedPod && { pod: reader.text() }),
      ...(present & parts.releasedMac && { mac: reader.text() }),
    };
  }

  /** Stores no attachment if the binding has that of the holder, which is usual. */
  #writeBinding(binding: Binding, { last, lastAt, allocation }: Base): void {
    const fields = this.#fields;
    const { writer } = fields;
    requireShape(binding, bindingKeys);
    const { alloc, attachment, containerId, node, bootId, at, mac } = binding;
    const isHolders = allocation !== undefined && isSameAttachment(allocation.attachment, attachment);
    const macForm = mac === undefined ? macs.none : mac === allocation?.mac ? macs.holders : macs.other;
    writer.number((isHolders ? 1 : 0) + macForm);
    if (!isHolders) fields.writeAttachment(attachment);
    writer.difference(last - alloc);
    writer.difference(lastAt - at);
    writer.text(containerId);
    fields.writeShared(binding.interface);
    fields.writeShared(node);
    fields.writeShared(bootId);
    if (mac !== undefined && macForm === macs.other) writer.text(mac);
  }

  #readBindings({ last, lastAt, allocation }: Base): readonly Binding[] {
    const fields = this.#fields;
    const { reader } = fields;
    const count = reader.number();
    if (count === 0) return noBindings;
    return fields.readEach(count, (): Binding => {
      const form = reader.number();
      const attachment = form & 1 && allocation ? allocation.attachment : fields.readAttachment();
      const alloc = last - reader.difference();
      const at = lastAt - reader.difference();
      const containerId = reader.text();
      const [name, node, bootId] = [fields.readShared(), fields.readShared(), fields.readShared()];
      const mac = form & macs.other ? reader.text() : form & macs.holders ? allocation?.mac : undefined;
      return {
        alloc,
        attachment,
        containerId,
        interface: name,
        node,
        bootId,
        at,
        ...(mac !== undefined && { mac }),
      };
    });
  }
}

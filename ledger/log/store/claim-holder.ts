/** The holder and the bindings of a stored claim. Texts that many claims have are shared. */
import type { Attachment, Seq } from '../../domain/events/event.ts';
import type { Allocation, Binding } from '../../domain/state/claim.ts';
import { parseCanonicalInstant } from '../chain/instant.ts';
import type { SharedClaimValues } from './shared-claim-values.ts';

export interface StoredHolder extends Omit<Allocation, 'seq' | 'subnet' | 'at'> {
  readonly at: string;
}

export interface StoredBinding extends Omit<Binding, 'at'> {
  readonly at: string;
}

/** The allocation of event `seq`. @throws TypeError */
export function parseAllocation(holder: StoredHolder, seq: Seq, subnet: string, shared: SharedClaimValues): Allocation {
  const { owner, attachment, addresses, node, routes } = holder;
  return {
    ...holder,
    attachment: shareAttachment(attachment, shared),
    ...(owner && { owner: shared.owner(owner) }),
    node: shared.text(node),
    addresses: addresses.map((each) => ({ ...each, cidr: shared.text(each.cidr), gateway: shared.text(each.gateway) })),
    interface: shared.text(holder.interface),
    routes: routes.length === 0 ? noRoutes : routes,
    seq,
    subnet: shared.text(subnet),
    at: parseTime(holder.at),
  };
}

const noRoutes: Allocation['routes'] = [];

/** A binding. It has the attachment of the holder, if both are equal. @throws TypeError */
export function parseBinding(
  binding: StoredBinding,
  holder: Allocation | undefined,
  shared: SharedClaimValues,
): Binding {
  const { attachment, node, bootId } = binding;
  return {
    ...binding,
    attachment:
      holder && isSameAttachment(holder.attachment, attachment)
        ? holder.attachment
        : shareAttachment(attachment, shared),
    interface: shared.text(binding.interface),
    node: shared.text(node),
    bootId: shared.text(bootId),
    at: parseTime(binding.at),
  };
}

const isSameAttachment = (one: Attachment, other: Attachment): boolean =>
  one.namespace === other.namespace &&
  one.pod === other.pod &&
  one.provider === other.provider &&
  one.ordinal === other.ordinal;

const shareAttachment = (attachment: Attachment, shared: SharedClaimValues): Attachment => ({
  ...attachment,
  namespace: shared.text(attachment.namespace),
  provider: shared.text(attachment.provider),
});

/** Milliseconds since 1970. @throws TypeError */
export function parseTime(text: string): number {
  const at = parseCanonicalInstant(text) ?? Date.parse(text);
  if (Number.isNaN(at)) throw new TypeError(`"${text}" is not a time`);
  return at;
}

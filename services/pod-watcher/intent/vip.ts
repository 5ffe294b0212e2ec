/** The annotation `vip`: a Pod that shall have the addresses which a Vip object holds. */
import type { Input } from '../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../proto/ipledger.ts';
import { ok, problem, type Result } from './result.ts';

/** A Vip that has its addresses. */
export interface VipInForce {
  readonly subnet: string;
  readonly addresses: readonly string[];
  /** Whose Pods may use it; "": all namespaces. */
  readonly namespace: string;
}

/**
 * The requests, of which the first that is served from the Vip's Subnet asks for its addresses.
 * @param asks the Vip's name, and the namespace of the Pod.
 * @param vip undefined while there is none of this name that has its addresses.
 */
export function withVip(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  vip: VipInForce | undefined,
  requests: readonly Input<AttachmentRequest>[],
): Result<Input<AttachmentRequest>[]> {
  if (!vip) return problem(`there is no Vip ${name}, or it has no address yet: create or correct it`);
  if (vip.namespace !== '' && vip.namespace !== namespace)
    return problem(
      `Vip ${name} is for namespace ${vip.namespace}, not for namespace ${namespace}: name another Vip, or correct spec.namespace of Vip ${name}`,
    );
  const index = requests.findIndex(({ subnets = [] }) => subnets.includes(vip.subnet));
  if (index < 0)
    return problem(`Vip ${name} is of Subnet ${vip.subnet}, from which none of the Pod's networks is served`);
  const entitled = {
    subnets: [vip.subnet],
    candidates: [{ addresses: [...vip.addresses] }],
    pool: '',
    reservation: `vip/${name}`,
  };
  return ok(requests.map((request, at) => (at === index ? { ...request, ...entitled } : request)));
}

/** The annotation `vip`: a Pod that requests the addresses of a Vip object. Pure. */
import type { MessageInput } from '../../../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../../../proto/generated/ipledger.ts';
import type { ReservedVip } from '../../cluster-view.ts';
import { ok, problem, type Result } from '../../../../../lib/result.ts';

/**
 * Returns the requests; the first that is served from the Vip's Subnet now requests the Vip's addresses.
 * @param vip `reserved` is undefined while there is no such Vip, or it has no address.
 */
export function requestVipAddresses(
  { name, reserved }: { readonly name: string; readonly reserved: ReservedVip | undefined },
  namespace: string,
  requests: readonly MessageInput<AttachmentRequest>[],
): Result<MessageInput<AttachmentRequest>[]> {
  if (!reserved) return problem(`there is no Vip ${name}, or it has no address yet: create or correct it`);
  if (reserved.namespace !== '' && reserved.namespace !== namespace)
    return problem(
      `Vip ${name} is for namespace ${reserved.namespace}, not for namespace ${namespace}: name another Vip, or correct spec.namespace of Vip ${name}`,
    );
  const index = requests.findIndex(
    ({ subnets = [], reservation = '' }) => reservation === '' && subnets.includes(reserved.subnet),
  );
  if (index === -1)
    return problem(`Vip ${name} is of Subnet ${reserved.subnet}, from which none of the Pod's networks is served`);
  const vipRequest = {
    subnets: [reserved.subnet],
    candidates: [{ addresses: [...reserved.addresses] }],
    pool: '',
    reservation: `vip/${name}`,
  };
  return ok(requests.map((request, at) => (at === index ? { ...request, ...vipRequest } : request)));
}

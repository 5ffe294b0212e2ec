/** Fenced claims: another program changed their keys, so `decide` makes no decision about them. */
import { claimKey } from '../../state/claim.ts';
import { Refused } from '../../commands/refusal.ts';
import type { State } from '../../state/state.ts';

export const isFenced = (state: State, subnet: string, address: string): boolean =>
  state.fenced.has(claimKey({ subnet, address }));

/** @throws Refused ADDRESS_FENCED if another program changed the claim's key in etcd. */
export function refuseFenced(state: State, subnet: string, address: string): void {
  if (isFenced(state, subnet, address))
    throw new Refused(
      'ADDRESS_FENCED',
      `${address} of subnet ${subnet} is fenced: another program changed its key in etcd. Restore the key from the log (ipledger check --keys prints the command): the allocators then serve the address again within seconds`,
    );
}

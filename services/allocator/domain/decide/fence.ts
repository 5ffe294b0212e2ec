/** Claims whose key somebody else wrote: nothing is decided about them. */
import { claimKey } from '../journal.ts';
import { Refused } from '../refusal.ts';
import type { State } from '../state.ts';

export const isFenced = (state: State, subnet: string, address: string): boolean =>
  state.fenced.has(claimKey({ subnet, address }));

/** @throws Refused ADDRESS_FENCED when somebody else wrote the claim's key. */
export function refuseFenced(state: State, subnet: string, address: string): void {
  if (isFenced(state, subnet, address))
    throw new Refused(
      'ADDRESS_FENCED',
      `${address} of subnet ${subnet} is fenced: its key in etcd was changed by something else than ipledger; put back what the log says of it (ipledger check --claims has the command), then restart the allocators`,
    );
}

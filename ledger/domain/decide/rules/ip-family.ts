/** Selects the IP families of a subnet for a request. */
import type { AddressSpace } from '../../state/address-pools/address-space.ts';
import type { IpFamily } from '../../commands/command.ts';
import { Refused } from '../../commands/refusal.ts';
import type { ConfiguredSubnet } from '../../state/state.ts';

/** Returns the spaces of the requested families. @throws Refused IP_FAMILY_INVALID */
export function spacesFor({ subnet, spaces }: ConfiguredSubnet, ipFamily: IpFamily): readonly AddressSpace[] {
  const requested = spaces.filter(({ subnetFamily }) => matchesIpFamily(subnetFamily.family, ipFamily));
  if (requested.length === 0)
    throw new Refused(
      'IP_FAMILY_INVALID',
      `InvalidIPFamily: requested ip family ${ipFamily.replace('ip', 'IP')} does not match subnet ${subnet.name} protocol ${subnet.spec.protocol}`,
    );
  return requested;
}

export const matchesIpFamily = (family: 4 | 6, ipFamily: IpFamily): boolean =>
  ipFamily === '' || ipFamily === `ipv${family}`;

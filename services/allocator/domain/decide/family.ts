/** Which families of a subnet are asked for. */
import type { AddressSpace } from '../address-space.ts';
import type { IpFamily } from '../command.ts';
import { Refused } from '../refusal.ts';
import type { ConfiguredSubnet } from '../state.ts';

/** The subnet's spaces that serve the families asked for. @throws Refused IP_FAMILY_INVALID when there is none */
export function spacesFor({ subnet, spaces }: ConfiguredSubnet, ipFamily: IpFamily): readonly AddressSpace[] {
  const wanted = spaces.filter(({ subnetFamily }) => isOf(subnetFamily.family, ipFamily));
  if (wanted.length === 0)
    throw new Refused(
      'IP_FAMILY_INVALID',
      `InvalidIPFamily: requested ip family ${ipFamily.replace('ip', 'IP')} does not match subnet ${subnet.name} protocol ${subnet.spec.protocol}`,
    );
  return wanted;
}

/** Whether a family is among those asked for. */
export const isOf = (family: 4 | 6, ipFamily: IpFamily): boolean => ipFamily === '' || ipFamily === `ipv${family}`;

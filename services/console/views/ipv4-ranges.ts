/** IPv4 addresses and ranges as numbers. */
import { isIPv4 } from 'node:net';

export interface Range {
  readonly first: number;
  readonly last: number;
}

const numberOf = (address: string): number => address.split('.').reduce((value, part) => value * 256 + Number(part), 0);

export const addressOf = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

/** undefined for no IPv4 CIDR. Host bits are cleared. */
export function rangeOfCidr(cidr: string): Range | undefined {
  const [address = '', length = ''] = cidr.split('/');
  if (!isIPv4(address) || !/^\d{1,2}$/.test(length) || Number(length) > 32) return undefined;
  const size = 2 ** (32 - Number(length));
  const first = numberOf(address) - (numberOf(address) % size);
  return { first, last: first + size - 1 };
}

/** Ranges "a..b" and single addresses; those of IPv6 are left out. */
export const rangesOf = (texts: readonly string[]): Range[] =>
  texts.flatMap((text) => {
    const [first = '', last = first] = text.split('..');
    return isIPv4(first) && isIPv4(last) ? [{ first: numberOf(first), last: numberOf(last) }] : [];
  });

/** Without the addresses of the network and of the broadcast, which /31 and /32 lack. */
export const hostsOf = ({ first, last }: Range): Range =>
  last - first < 2 ? { first, last } : { first: first + 1, last: last - 1 };

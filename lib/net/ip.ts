/** Checks addresses and CIDRs that users write. The allocator has its own address arithmetic. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether a text is one address: no mask, no zone, no IPv4-mapped IPv6 address. */
export const isAddress = (text: string): boolean =>
  isIPv4(text) || (isIP(text) === 6 && !text.includes('%') && !ipaddr.IPv6.parse(text).isIPv4MappedAddress());

/** Whether a text is `address/length`; host bits may be set. */
export function isCidr(text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/');
  return (
    more.length === 0 &&
    isAddress(address) &&
    /^(?:0|[1-9]\d{0,2})$/.test(length) &&
    Number(length) <= (isIPv4(address) ? 32 : 128)
  );
}

/** Returns the address of `address/length`, or another text without surrounding blanks. */
export function withoutPrefixLength(text: string): string {
  const trimmed = text.trim();
  return isCidr(trimmed) ? trimmed.slice(0, trimmed.indexOf('/')) : trimmed;
}

/** Sorts addresses by family, IPv4 first. Addresses of one family keep their order. */
export const ipv4First = (addresses: Iterable<string>): string[] =>
  [...addresses].sort((one, other) => isIP(one) - isIP(other));

/**
 * The CIDRs or gateways of a NIC in Kube-OVN's annotations. They include both families of the
 * Subnet, even if the NIC has only one.
 * @param own the values of the NIC's own addresses
 * @param ofSubnet the values of the Subnet, joined by a comma, IPv4 first
 * @returns joined by a comma, IPv4 first
 */
export function bothFamilies(own: readonly string[], ofSubnet = ''): string {
  const isIpv6 = (text: string): boolean => text.includes(':');
  const given = own.filter((text) => text !== '');
  const others = ofSubnet.split(',').filter((text) => !given.some((each) => isIpv6(each) === isIpv6(text)));
  const all = [...given, ...others].filter((text) => text !== '');
  return all.toSorted((one, other) => Number(isIpv6(one)) - Number(isIpv6(other))).join(',');
}

/** Whether an address is inside a CIDR; false if either is invalid. */
export function cidrContains(cidr: string, address: string): boolean {
  if (!isCidr(cidr) || !isAddress(address)) return false;
  const [base = '', length = ''] = cidr.split('/');
  if (isIP(base) !== isIP(address)) return false;
  const family = isIPv4(base) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(base, Number(length), family);
  return list.check(address, family);
}

/** Clears the host bits: 192.168.0.0/24 for 192.168.0.101/24. @throws Error for no CIDR */
export function networkAddressOf(cidr: string): string {
  if (!isCidr(cidr)) throw new Error(`${cidr} is no CIDR`);
  const [address = '', length = ''] = cidr.split('/');
  const groups = isIPv4(address) ? address.split('.').map(Number) : ipv6Groups(address);
  const width = isIPv4(address) ? 8 : 16;
  const masked = groups.map((group, index) => {
    const hostBits = width - Math.min(width, Math.max(0, Number(length) - index * width));
    return (group >> hostBits) << hostBits;
  });
  const text = isIPv4(address) ? masked.join('.') : masked.map((group) => group.toString(16)).join(':');
  return `${text}/${length}`;
}

/** The eight groups of an IPv6 address. */
function ipv6Groups(address: string): number[] {
  // A URL shows an IPv6 address in hexadecimal, without a part in IPv4 form.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = [], after = []] = canonical.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16));
}

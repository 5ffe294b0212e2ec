/**
 * Addresses as numbers, and the one canonical text of each.
 *
 * ipaddr.js is lenient (it takes `1`, `010.0.0.1`, `0x7f.1`, zone ids) and neither compares nor counts; here an address is
 * accepted only as four plain decimal parts or as RFC 4291 text without a zone, and arithmetic is on bigint.
 */
import ipaddr from 'ipaddr.js';

export type Family = 4 | 6;

/** An address as a number of its family: 0 to 2^32 - 1, or 0 to 2^128 - 1. */
export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

/** A network: `base` has all host bits clear. */
export interface Cidr {
  readonly family: Family;
  readonly base: bigint;
  readonly prefix: number;
}

/** Bits of an address of the family. */
export const bitsOf = (family: Family): number => (family === 4 ? 32 : 128);

/** Strict parse; undefined for anything that is not exactly one address (a mask, a zone, an IPv4-mapped IPv6 address). */
export function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text))
    return { family: 4, value: toNumber(ipaddr.IPv4.parse(text).toByteArray()) };
  if (text.includes('%') || !text.includes(':') || !ipaddr.IPv6.isValid(text)) return undefined;
  const parsed = ipaddr.IPv6.parse(text);
  if (parsed.isIPv4MappedAddress()) return undefined;
  return { family: 6, value: toNumber(parsed.toByteArray()) };
}

/** The canonical text: dotted decimal, or RFC 5952. Equal addresses have equal texts. */
export function formatAddress({ family, value }: Address): string {
  if (family === 4) {
    const bits = Number(value);
    return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
  }
  const parts = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
  return new ipaddr.IPv6(parts).toRFC5952String();
}

/** `formatAddress` for many addresses: quick where neighbours differ in their last 16 bits only. */
export function formatterOf(family: Family): (value: bigint) => string {
  if (family === 4) return (value) => formatAddress({ family, value });
  let known: bigint | undefined;
  let prefix = '';
  return (value) => {
    const last = value & 0xffffn;
    // Where the last group is zero it may be part of what "::" stands for.
    if (last === 0n) return formatAddress({ family, value });
    if (value - last !== known) {
      known = value - last;
      prefix = formatAddress({ family, value: known + 1n }).slice(0, -1);
    }
    return prefix + last.toString(16);
  };
}

/** The canonical text of an address in any accepted spelling; undefined when it is none. */
export function canonicalAddress(text: string): string | undefined {
  const address = parseAddress(text);
  return address && formatAddress(address);
}

/** Strict parse of `address/prefix`; host bits are cleared, as Kube-OVN clears them. */
export function parseCidr(text: string): Cidr | undefined {
  const [host, mask, ...rest] = text.split('/');
  const address = parseAddress(host ?? '');
  if (!address || rest.length > 0 || mask === undefined || !/^(0|[1-9]\d{0,2})$/.test(mask)) return undefined;
  const prefix = Number(mask);
  const hostBits = bitsOf(address.family) - prefix;
  if (hostBits < 0) return undefined;
  return { family: address.family, base: (address.value >> BigInt(hostBits)) << BigInt(hostBits), prefix };
}

/** `base/prefix` in canonical text. */
export const formatCidr = ({ family, base, prefix }: Cidr): string =>
  `${formatAddress({ family, value: base })}/${prefix}`;

/** The last address of the network (IPv4: the broadcast address). */
export const lastOf = ({ family, base, prefix }: Cidr): bigint => base + (1n << BigInt(bitsOf(family) - prefix)) - 1n;

/** Whether two networks have an address in common. */
export function overlap(one: Cidr, other: Cidr): boolean {
  return one.family === other.family && one.base <= lastOf(other) && other.base <= lastOf(one);
}

/** Lower-case, colon-separated text of a unicast MAC of six octets; undefined when it is none. */
export function canonicalMac(text: string): string | undefined {
  const lower = text.toLowerCase().replaceAll('-', ':');
  if (!/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/.test(lower)) return undefined;
  const multicast = Number.parseInt(lower.slice(0, 2), 16) & 1;
  return multicast || lower === '00:00:00:00:00:00' ? undefined : lower;
}

const toNumber = (bytes: number[]): bigint => bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);

/**
 * IP and MAC addresses: strict parsing, canonical text, and arithmetic on bigint.
 *
 * ipaddr.js also accepts `1`, `010.0.0.1`, `0x7f.1` and zone ids, and does not compare or count
 * addresses. Here an address is four plain decimal parts, or RFC 4291 text without a zone.
 */
import ipaddr from 'ipaddr.js';

export type Family = 4 | 6;

/** An address as a number of its family: 0 to 2^32 - 1, or 0 to 2^128 - 1. */
export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

/** An address block. All host bits of `base` are 0. */
export interface Cidr {
  readonly family: Family;
  readonly base: bigint;
  readonly prefix: number;
}

export const familyOf = (address: string): Family => (address.includes(':') ? 6 : 4);

export const addressBits = (family: Family): number => (family === 4 ? 32 : 128);

/** Parses one address; undefined for other text, masks, zones, and IPv4-mapped IPv6 addresses. */
export function parseAddress(text: string): Address | undefined {
  const ipv4 = parseIpv4(text);
  if (ipv4 !== undefined) return { family: 4, value: BigInt(ipv4) };
  if (text.includes('%') || !text.includes(':') || !ipaddr.IPv6.isValid(text)) return undefined;
  const parsed = ipaddr.IPv6.parse(text);
  if (parsed.isIPv4MappedAddress()) return undefined;
  return { family: 6, value: toNumber(parsed.toByteArray()) };
}

const [dot, zero, nine] = ['.', '0', '9'].map((character) => character.charCodeAt(0)) as [number, number, number];

/** Four decimal parts of 0 to 255 without leading zeros. Fast: each event parses its addresses. */
function parseIpv4(text: string): number | undefined {
  if (text.length < 7 || text.length > 15) return undefined;
  let [value, part, digits, parts] = [0, 0, 0, 1];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === dot) {
      if (digits === 0 || ++parts > 4) return undefined;
      value = value * 256 + part;
      [part, digits] = [0, 0];
    } else {
      if (code < zero || code > nine || (digits > 0 && part === 0)) return undefined;
      part = part * 10 + code - zero;
      digits++;
      if (part > 255) return undefined;
    }
  }
  return parts === 4 && digits > 0 ? value * 256 + part : undefined;
}

/** Returns canonical text: dotted decimal for IPv4, RFC 5952 for IPv6. */
export function formatAddress({ family, value }: Address): string {
  if (family === 4) {
    const bits = Number(value);
    return `${bits >>> 24}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
  }
  const parts = Array.from({ length: 8 }, (_, index) => Number((value >> BigInt(112 - 16 * index)) & 0xffffn));
  return new ipaddr.IPv6(parts).toRFC5952String();
}

/** Formats many addresses. Fast while successive addresses differ only in the last 16 bits. */
export function formatterOf(family: Family): (value: bigint) => string {
  if (family === 4) return (value) => formatAddress({ family, value });
  let known: bigint | undefined;
  let prefix = '';
  return (value) => {
    const last = value & 0xffffn;
    // If the last group is 0, it may be part of "::".
    if (last === 0n) return formatAddress({ family, value });
    if (value - last !== known) {
      known = value - last;
      prefix = formatAddress({ family, value: known + 1n }).slice(0, -1);
    }
    return prefix + last.toString(16);
  };
}

/** Returns the canonical text of an address in any spelling, or undefined for other text. */
export function canonicalAddress(text: string): string | undefined {
  const address = parseAddress(text);
  return address && formatAddress(address);
}

/** Parses `address/prefix`; undefined for other text. Clears the host bits, as Kube-OVN does. */
export function parseCidr(text: string): Cidr | undefined {
  const [host, mask, ...rest] = text.split('/');
  const address = parseAddress(host ?? '');
  if (!address || rest.length > 0 || mask === undefined || !/^(0|[1-9]\d{0,2})$/.test(mask)) return undefined;
  const prefix = Number(mask);
  const hostBits = addressBits(address.family) - prefix;
  if (hostBits < 0) return undefined;
  return { family: address.family, base: (address.value >> BigInt(hostBits)) << BigInt(hostBits), prefix };
}

export const formatCidr = ({ family, base, prefix }: Cidr): string =>
  `${formatAddress({ family, value: base })}/${prefix}`;

/** The last address of the block (IPv4: the broadcast address). */
export const lastAddressOf = ({ family, base, prefix }: Cidr): bigint =>
  base + (1n << BigInt(addressBits(family) - prefix)) - 1n;

export function cidrsOverlap(one: Cidr, other: Cidr): boolean {
  return one.family === other.family && one.base <= lastAddressOf(other) && other.base <= lastAddressOf(one);
}

/** Six octets as in Go's net.ParseMAC: 02:00:00:53:6b:bb, 02-00-00-53-6b-bb, 0200.0053.6bbb. */
const macForms = /^(?:[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2})$/i;

/** Returns a unicast MAC in lower case with colons, or undefined for other text. */
export function canonicalMac(text: string): string | undefined {
  if (!macForms.test(text)) return undefined;
  const octets = text.toLowerCase().match(/[0-9a-f]{2}/g) ?? [];
  const isMulticast = (Number.parseInt(octets[0] ?? '', 16) & 1) === 1;
  return isMulticast || octets.every((octet) => octet === '00') ? undefined : octets.join(':');
}

const toNumber = (bytes: number[]): bigint => bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);

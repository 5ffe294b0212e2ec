/** Addresses as keys in numeric order: a number for IPv4, hexadecimal text for IPv6. */
import ipaddr from 'ipaddr.js';

export type AddressKey = number | string;

/** @param address in canonical text */
export function addressKey(address: string): AddressKey {
  if (address.includes(':')) return Buffer.from(ipaddr.IPv6.parse(address).toByteArray()).toString('hex');
  return address.split('.').reduce((value, part) => value * 256 + Number(part), 0);
}

/** Returns the canonical text. */
export function addressOfKey(key: AddressKey): string {
  if (typeof key === 'string') return new ipaddr.IPv6([...Buffer.from(key, 'hex')]).toRFC5952String();
  return [24, 16, 8, 0].map((shift) => (key >>> shift) & 255).join('.');
}

export const familyOfKey = (key: AddressKey): 4 | 6 => (typeof key === 'number' ? 4 : 6);

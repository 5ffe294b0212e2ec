/** Proposes the correct spelling of a text that is not a valid address, for error messages. */
import { addressBits, formatAddress, lastAddressOf, parseAddress, parseCidr } from './address.ts';

/** The forms that a field accepts. A range is "first..last". */
export type AddressForms = 'address' | 'range' | 'range or CIDR';

/** The end of an error message, beginning with ": "; "" if the text resembles no address. */
export function proposeForm(text: string, takes: AddressForms): string {
  const trimmed = text.trim();
  const range = asRange(trimmed);
  if (range !== undefined) return takes === 'address' ? `: it is a range: name single addresses` : `: write "${range}"`;
  const cidr = parseCidr(trimmed);
  if (cidr) {
    const [host = ''] = trimmed.split('/');
    if (takes === 'address' || cidr.prefix === addressBits(cidr.family)) return `: write it without a mask, "${host}"`;
    const last = formatAddress({ family: cidr.family, value: lastAddressOf(cidr) });
    return `: write "${formatAddress({ family: cidr.family, value: cidr.base })}..${last}"`;
  }
  const [plain = ''] = trimmed.split('%');
  if (plain !== trimmed && parseAddress(plain)) return `: write it without the zone, "${plain}"`;
  const unpadded = trimmed.replace(/(^|\.)0+(?=\d)/g, '$1');
  if (unpadded !== trimmed && parseAddress(unpadded)) return `: write it without leading zeros, "${unpadded}"`;
  const mapped = /^(?:::|(?:0+:){5})ffff:([\d.]+)$/i.exec(trimmed)?.[1] ?? '';
  return parseAddress(mapped) ? `: write the IPv4 address, "${mapped}"` : '';
}

/** Returns the range "first..last" if the text is two addresses joined by dots or a dash. */
function asRange(text: string): string | undefined {
  const ends = text.split(/\.\.|-/, 3).map((end) => end.trim());
  return ends.length === 2 && ends.every((end) => parseAddress(end)) ? ends.join('..') : undefined;
}

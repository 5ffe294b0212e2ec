/** The parameters of a URL, each with a limit. Every function throws INVALID_REQUEST. */
import { canonicalAddress } from '../../../ledger/domain/addresses/address.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { isCidr } from '../../../lib/net/ip.ts';
import { isPrintable } from '../../../lib/unprintable.ts';

const invalid = (message: string): IpledgerError => new IpledgerError('INVALID_REQUEST', message);

/** The length of a DNS subdomain, the longest name of Kubernetes. */
const maxNameLength = 253;
/** The length of a page token: the position in each Subnet with the address. */
const maxPageLength = 1_024;

export class Query {
  readonly #params: URLSearchParams;

  constructor(params: URLSearchParams) {
    this.#params = params;
  }

  /** Reads a text; '' if it is absent. */
  text(name: string, maxLength = maxNameLength): string {
    const [value = '', ...others] = this.#params.getAll(name);
    if (others.length > 0) throw invalid(`${name} occurs twice`);
    if (value.length > maxLength)
      throw invalid(`${name} has ${value.length} characters, and ${maxLength} is the limit`);
    if (!isPrintable(value)) throw invalid(`${name} contains control characters`);
    return value;
  }

  /** Reads a whole number. */
  number(name: string, { min, max, byDefault }: Readonly<Record<'min' | 'max' | 'byDefault', number>>): number {
    const text = this.text(name, 16);
    if (text === '') return byDefault;
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= min && number <= max) return number;
    throw invalid(`${name} is ${JSON.stringify(text)}: write a whole number from ${min} to ${max}`);
  }

  /** Reads an instant in RFC 3339; '' if it is absent. */
  instant(name: string): string {
    const text = this.text(name, 40);
    if (text === '' || (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text)))) return text;
    throw invalid(`${name} is no instant: ${JSON.stringify(text)}; write it as 2026-11-17T14:05:00Z`);
  }

  /** Reads an address in canonical text; '' if it is absent. */
  address(name: string): string {
    const text = this.text(name, 64);
    const address = text === '' ? '' : canonicalAddress(text);
    if (address !== undefined) return address;
    throw invalid(`${name} is no address: ${JSON.stringify(text)}`);
  }

  /** Reads a CIDR; '' if it is absent. */
  cidr(name: string): string {
    const text = this.text(name, 64);
    if (text === '' || isCidr(text)) return text;
    throw invalid(`${name} is no CIDR: ${JSON.stringify(text)}`);
  }

  page(): string {
    return this.text('page', maxPageLength);
  }

  limit(max = 500): number {
    return this.number('limit', { min: 1, max, byDefault: Math.min(max, 100) });
  }
}

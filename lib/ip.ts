/** What is an address and what a CIDR, as users write them: for checks. The allocator does its own arithmetic. */
import { BlockList, isIP, isIPv4 } from 'node:net';

/** Whether a text is one address, without a mask or a zone. */
export const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%');

/** Whether a text is `address/length`; host bits may be set. */
export function isCidr(text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/');
  return (
    more.length === 0 &&
    isAddress(address) &&
    /^\d{1,3}$/.test(length) &&
    Number(length) <= (isIPv4(address) ? 32 : 128)
  );
}

/** Whether an address is inside a CIDR; false of what is none. */
export function cidrHas(cidr: string, address: string): boolean {
  if (!isCidr(cidr) || !isAddress(address)) return false;
  const [base = '', length = ''] = cidr.split('/');
  if (isIP(base) !== isIP(address)) return false;
  const family = isIPv4(base) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(base, Number(length), family);
  return list.check(address, family);
}

/** The MAC of a router port. Pure. */
import { createHash } from 'node:crypto';

/**
 * A MAC that is the same at each computation, so that Pods need not resolve their gateway again. The ledger id distinguishes the
 * routers of two clusters that share a physical network. It is locally administered (IEEE 802, bit 1 of the first octet).
 */
export function routerMac(ledger: string, router: string, subnet: string): string {
  const digest = createHash('sha256').update([ledger, router, subnet].join('/')).digest();
  return ['0e', ...[...digest.subarray(0, 5)].map((octet) => octet.toString(16).padStart(2, '0'))].join(':');
}

/**
 * The public authorities of TLS. The agent starts with --use-openssl-ca: otherwise Node parses all
 * of them when it loads TLS, which takes 1.6 MiB of each agent. Nearly all agents connect only to
 * servers of an authority that they are given.
 */
import { getCACertificates, rootCertificates, setDefaultCACertificates } from 'node:tls';

let areTrusted = !process.execArgv.includes('--use-openssl-ca');

/** Trusts them and NODE_EXTRA_CA_CERTS on connections without authorities of their own. */
export function trustPublicAuthorities(): void {
  if (areTrusted) return;
  setDefaultCACertificates([...rootCertificates, ...getCACertificates('extra')]);
  areTrusted = true;
}

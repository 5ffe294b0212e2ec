/**
 * The public authorities of TLS, loaded on demand. The agent starts with --use-openssl-ca, because
 * Node would otherwise parse all of them when it loads TLS, which takes 1.6 MiB of each agent.
 * Nearly all agents connect only to servers whose authority they are given.
 */
import { getCACertificates, rootCertificates, setDefaultCACertificates } from 'node:tls';

let areTrusted = !process.execArgv.includes('--use-openssl-ca');

/** Trusts public authorities and NODE_EXTRA_CA_CERTS on connections without own authorities. */
export function trustPublicAuthorities(): void {
  if (areTrusted) return;
  setDefaultCACertificates([...rootCertificates, ...getCACertificates('extra')]);
  areTrusted = true;
}

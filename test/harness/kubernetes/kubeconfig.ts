/** Writes kubeconfig files for the API servers of tests. */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { type Authority, base64Of, type KeyPair } from '../certificates/certificate-authority.ts';

/** Writes a kubeconfig (mode 0600) with an embedded key pair, so that the file can be moved. */
export function writeKubeconfig(file: string, server: string, authority: Authority, user: KeyPair): string {
  const name = 'ipledger';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64Of(authority.cert) } }],
    users: [{ name, user: { 'client-certificate-data': base64Of(user.cert), 'client-key-data': base64Of(user.key) } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  };
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return file;
}

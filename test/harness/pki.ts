/** Certificates for the servers of a run, made by openssl: one authority, and whatever it is asked to sign. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from './command.ts';

const days = '3650';
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];

/** Paths of PEM files. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends KeyPair {
  readonly folder: string;
}

export interface Subject {
  /** File name, unique within the authority; what is there already is taken as it is. */
  readonly name: string;
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** "DNS:localhost", "IP:127.0.0.1", "URI:ipledger://watcher". */
  readonly alternativeNames?: readonly string[];
}

/** Makes an authority in a folder, or takes the one that is there. */
export async function openAuthority(folder: string): Promise<Authority> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const authority = { folder, cert: join(folder, 'ca.crt'), key: join(folder, 'ca.key') };
  if (existsSync(authority.cert)) return authority;
  const extensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign,digitalSignature'];
  await request(authority, { folder, subject: '/CN=ipledger-test-authority', extensions });
  return authority;
}

/** A certificate for a server or a client, with its key; made once a name. */
export async function issue(authority: Authority, subject: Subject): Promise<KeyPair> {
  const { folder } = authority;
  const pair = { cert: join(folder, `${subject.name}.crt`), key: join(folder, `${subject.name}.key`) };
  if (existsSync(pair.cert)) return pair;
  const { alternativeNames = [], organizations = [] } = subject;
  const extensions = [
    'basicConstraints=critical,CA:FALSE',
    'keyUsage=critical,digitalSignature,keyEncipherment',
    'extendedKeyUsage=clientAuth,serverAuth',
    ...(alternativeNames.length > 0 ? [`subjectAltName=${alternativeNames.join(',')}`] : []),
  ];
  const parts = [...organizations.map((organization) => `O=${organization}`), `CN=${subject.commonName}`];
  await request(pair, { folder, subject: `/${parts.join('/')}`, extensions, authority });
  return pair;
}

/** A key alone, as ServiceAccount tokens are signed with. */
export async function signingKey(folder: string, name: string): Promise<string> {
  const file = join(folder, `${name}.key`);
  // Not `genpkey`: kube-apiserver takes the public half from a key of this older form only.
  if (!existsSync(file))
    await mustRun('openssl', ['ecparam', '-genkey', '-noout', '-name', 'prime256v1', '-out', file]);
  return file;
}

/** A PEM file as a kubeconfig embeds it. */
export function base64Of(file: string): string {
  return readFileSync(file).toString('base64');
}

interface Request {
  readonly folder: string;
  readonly subject: string;
  readonly extensions: readonly string[];
  /** Who signs; without one it signs itself. */
  readonly authority?: Authority;
}

async function request(pair: KeyPair, { folder, subject, extensions, authority }: Request): Promise<void> {
  // A configuration of our own: the system's adds extensions that contradict these.
  const config = `${pair.cert}.cnf`;
  writeFileSync(config, `[req]\ndistinguished_name=dn\n[dn]\n[extensions]\n${extensions.join('\n')}\n`);
  const signer = authority ? ['-CA', authority.cert, '-CAkey', authority.key] : [];
  const files = ['-keyout', pair.key, '-out', pair.cert];
  const wanted = ['-config', config, '-extensions', 'extensions', '-subj', subject, '-days', days];
  await mustRun('openssl', ['req', '-x509', ...newKey, ...wanted, ...signer, ...files], { folder });
}

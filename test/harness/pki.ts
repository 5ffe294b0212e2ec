/** Certificates for the servers of a run, made by openssl: one authority, and whatever it is asked to sign. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from './command.ts';

const usualDays = 3650;
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
  /** How long it is valid (default ten years); less than 0: it has ended already. */
  readonly days?: number;
}

/** Makes an authority in a folder, or takes the one that is there; it vouches for itself unless one is above it. */
export async function openAuthority(
  folder: string,
  name = 'ipledger-test-authority',
  above?: Authority,
): Promise<Authority> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const authority = { folder, cert: join(folder, 'ca.crt'), key: join(folder, 'ca.key') };
  if (existsSync(authority.cert)) return authority;
  const extensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign,digitalSignature'];
  await request(authority, { subject: `/CN=${name}`, extensions, days: usualDays, ...(above && { authority: above }) });
  return authority;
}

/** A certificate for a server or a client, with its key, in the authority's folder; made once a name. */
export async function issue(authority: Authority, subject: Subject): Promise<KeyPair> {
  const pair = {
    cert: join(authority.folder, `${subject.name}.crt`),
    key: join(authority.folder, `${subject.name}.key`),
  };
  if (!existsSync(pair.cert)) await make(authority, subject, pair);
  return pair;
}

/** A new certificate and key in place of a pair, wherever that is: first the one file is replaced, then the other. */
export async function reissue(authority: Authority, subject: Subject, pair: KeyPair): Promise<void> {
  const draft = { cert: `${pair.cert}.new`, key: `${pair.key}.new` };
  await make(authority, subject, draft);
  renameSync(draft.key, pair.key);
  renameSync(draft.cert, pair.cert);
}

async function make(authority: Authority, subject: Subject, pair: KeyPair): Promise<void> {
  const { alternativeNames = [], organizations = [], days = usualDays } = subject;
  const extensions = [
    'basicConstraints=critical,CA:FALSE',
    'keyUsage=critical,digitalSignature,keyEncipherment',
    'extendedKeyUsage=clientAuth,serverAuth',
    ...(alternativeNames.length > 0 ? [`subjectAltName=${alternativeNames.join(',')}`] : []),
  ];
  const parts = [...organizations.map((organization) => `O=${organization}`), `CN=${subject.commonName}`];
  await request(pair, { subject: `/${parts.join('/')}`, extensions, authority, days });
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
  readonly subject: string;
  readonly extensions: readonly string[];
  readonly days: number;
  /** Who signs; without one it signs itself. */
  readonly authority?: Authority;
}

async function request(pair: KeyPair, { subject, extensions, authority, days }: Request): Promise<void> {
  // A configuration of our own: the system's adds extensions that contradict these.
  const [config, asked] = [`${pair.cert}.cnf`, `${pair.cert}.csr`];
  writeFileSync(config, `[req]\ndistinguished_name=dn\n[dn]\n[extensions]\n${extensions.join('\n')}\n`);
  const signer = authority ? ['-CA', authority.cert, '-CAkey', authority.key] : ['-signkey', pair.key];
  // In two steps: only the second takes any number of days.
  await mustRun('openssl', [
    'req',
    '-new',
    ...newKey,
    '-config',
    config,
    '-subj',
    subject,
    '-keyout',
    pair.key,
    '-out',
    asked,
  ]);
  const signed = ['-set_serial', `0x${randomBytes(16).toString('hex')}`, '-days', String(days), '-out', pair.cert];
  await mustRun('openssl', [
    'x509',
    '-req',
    '-in',
    asked,
    '-extfile',
    config,
    '-extensions',
    'extensions',
    ...signer,
    ...signed,
  ]);
  for (const file of [config, asked]) rmSync(file);
}

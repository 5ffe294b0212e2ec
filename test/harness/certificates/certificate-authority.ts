/** Creates a certificate authority and signs certificates with openssl. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun } from '../processes/command.ts';

const defaultDays = 3650;
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
  /** File name, unique within the authority. An existing certificate is used unchanged. */
  readonly name: string;
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** The names, such as "DNS:localhost", "IP:127.0.0.1", "URI:ipledger://watcher". */
  readonly alternativeNames?: readonly string[];
  /** Days of validity (default: ten years). Less than 0: it is already expired. */
  readonly days?: number;
}

/**
 * Creates an authority in a folder, or opens the existing one. It is self-signed, unless `above`
 * signs it.
 */
export async function openAuthority(
  folder: string,
  name = 'ipledger-test-authority',
  above?: Authority,
): Promise<Authority> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const authority = { folder, cert: join(folder, 'ca.crt'), key: join(folder, 'ca.key') };
  if (existsSync(authority.cert)) return authority;
  const extensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign,digitalSignature'];
  await request(authority, {
    subject: `/CN=${name}`,
    extensions,
    days: defaultDays,
    ...(above && { authority: above }),
  });
  return authority;
}

/**
 * Issues a certificate and key for a server or a client, in the folder of the authority, once for
 * each name.
 */
export async function issueCertificate(authority: Authority, subject: Subject): Promise<KeyPair> {
  const pair = {
    cert: join(authority.folder, `${subject.name}.crt`),
    key: join(authority.folder, `${subject.name}.key`),
  };
  if (!existsSync(pair.cert)) await sign(authority, subject, pair);
  return pair;
}

/** Replaces the certificate and key of a pair: first the key file, then the certificate file. */
export async function reissueCertificate(authority: Authority, subject: Subject, pair: KeyPair): Promise<void> {
  const draft = { cert: `${pair.cert}.new`, key: `${pair.key}.new` };
  await sign(authority, subject, draft);
  renameSync(draft.key, pair.key);
  renameSync(draft.cert, pair.cert);
}

async function sign(authority: Authority, subject: Subject, pair: KeyPair): Promise<void> {
  const { alternativeNames = [], organizations = [], days = defaultDays } = subject;
  const extensions = [
    'basicConstraints=critical,CA:FALSE',
    'keyUsage=critical,digitalSignature,keyEncipherment',
    'extendedKeyUsage=clientAuth,serverAuth',
    ...(alternativeNames.length > 0 ? [`subjectAltName=${alternativeNames.join(',')}`] : []),
  ];
  const parts = [...organizations.map((organization) => `O=${organization}`), `CN=${subject.commonName}`];
  await request(pair, { subject: `/${parts.join('/')}`, extensions, authority, days });
}

/** Creates a key that signs ServiceAccount tokens. */
export async function createSigningKey(folder: string, name: string): Promise<string> {
  const file = join(folder, `${name}.key`);
  // The older format, the only one from which kube-apiserver reads the public key
  if (!existsSync(file))
    await mustRun('openssl', ['ecparam', '-genkey', '-noout', '-name', 'prime256v1', '-out', file]);
  return file;
}

/** Reads a PEM file as base64, for a kubeconfig. */
export function base64Of(file: string): string {
  return readFileSync(file).toString('base64');
}

interface Request {
  readonly subject: string;
  readonly extensions: readonly string[];
  readonly days: number;
  /** The signer (default: self-signed). */
  readonly authority?: Authority;
}

async function request(pair: KeyPair, { subject, extensions, authority, days }: Request): Promise<void> {
  // A configuration of its own, because that of the system adds conflicting extensions
  const [config, signingRequest] = [`${pair.cert}.cnf`, `${pair.cert}.csr`];
  writeFileSync(config, `[req]\ndistinguished_name=dn\n[dn]\n[extensions]\n${extensions.join('\n')}\n`);
  const signer = authority ? ['-CA', authority.cert, '-CAkey', authority.key] : ['-signkey', pair.key];
  // Two steps, because only `openssl x509` accepts any number of days.
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
    signingRequest,
  ]);
  const signed = ['-set_serial', `0x${randomBytes(16).toString('hex')}`, '-days', String(days), '-out', pair.cert];
  await mustRun('openssl', [
    'x509',
    '-req',
    '-in',
    signingRequest,
    '-extfile',
    config,
    '-extensions',
    'extensions',
    ...signer,
    ...signed,
  ]);
  for (const file of [config, signingRequest]) rmSync(file);
}

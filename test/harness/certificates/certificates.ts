/**
 * The certificates for `make certs`, `make up` and tests. There are two authorities: one for the
 * programs of ipledger, whose identity is the URI in the certificate, and one for etcd, where each
 * certificate gives access to the ledger.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkCertificates, readCertificates, type TlsFiles } from '../../../lib/tls/certificates.ts';
import {
  type Authority,
  issueCertificate,
  openAuthority,
  reissueCertificate,
  type Subject,
} from './certificate-authority.ts';

/** The host names of a server, for foreign clients. Clients of ipledger check the URI instead. */
const thisMachine = ['DNS:localhost', 'IP:127.0.0.1', 'IP:::1'];
const days = 365;
/** The time before its expiry at which a certificate is renewed. */
const renewalMs = 30 * 86_400_000;

/** The subjects of the certificates. */
export interface CertificateSubjects {
  /** Replica ids. */
  readonly allocators: readonly string[];
  readonly nodes: readonly string[];
  readonly operators: readonly string[];
}

export interface MakeCertificatesOptions extends CertificateSubjects {
  readonly folder: string;
  /** Whether to renew all certificates, also those that are still valid. */
  readonly renew?: boolean;
}

/** A certificate with its subject. */
export interface MadeCertificate {
  readonly files: TlsFiles;
  /** The URI, or etcd's user. */
  readonly subject: string;
  readonly state: 'made' | 'renewed' | 'kept';
}

/** The files of each program. */
export interface CertificateFolder {
  readonly allocator: (replica: string) => TlsFiles;
  readonly agent: (node: string) => TlsFiles;
  readonly watcher: TlsFiles;
  readonly ovnProjector: TlsFiles;
  readonly readModel: TlsFiles;
  readonly operator: (name: string) => TlsFiles;
  readonly viewer: TlsFiles;
  readonly etcd: {
    readonly server: TlsFiles;
    /** Certificates of etcd's users "root", "ipledger" and "ipledger-auditor". */
    readonly root: TlsFiles;
    readonly allocator: TlsFiles;
    readonly auditor: TlsFiles;
  };
}

/** The paths of the certificates in a folder. The files may not exist yet. */
export function certificateFolder(folder: string): CertificateFolder {
  const etcd = join(folder, 'etcd');
  const files = (where: string, name: string): TlsFiles => ({
    ca: join(where, 'ca.crt'),
    cert: join(where, `${name}.crt`),
    key: join(where, `${name}.key`),
  });
  return {
    allocator: (replica) => files(folder, `allocator-${replica}`),
    agent: (node) => files(folder, `agent-${node}`),
    watcher: files(folder, 'watcher'),
    ovnProjector: files(folder, 'ovn-projector'),
    readModel: files(folder, 'read-model'),
    operator: (name) => files(folder, `operator-${name}`),
    viewer: files(folder, 'viewer'),
    etcd: {
      server: files(etcd, 'server'),
      root: files(etcd, 'root'),
      allocator: files(etcd, 'allocator'),
      auditor: files(etcd, 'auditor'),
    },
  };
}

/** Creates the missing certificates in a folder, and renews those that expire soon. */
export async function makeCertificates({
  folder,
  renew = false,
  ...subjects
}: MakeCertificatesOptions): Promise<MadeCertificate[]> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ours = await openAuthority(folder, 'ipledger authority');
  const etcds = await openAuthority(join(folder, 'etcd'), 'ipledger etcd authority');
  const made: MadeCertificate[] = [];
  for (const subject of subjectsOf(subjects)) made.push(await ensureCertificate(ours, subject, renew));
  for (const subject of etcdSubjects) made.push(await ensureCertificate(etcds, subject, renew));
  return made;
}

/** The subjects of the programs of ipledger. */
export function subjectsOf({ allocators, nodes, operators }: CertificateSubjects): Subject[] {
  const named = (kind: string, names: readonly string[], more: readonly string[] = []): Subject[] =>
    names.map((name) => subjectOf(`${kind}-${name}`, `ipledger://${kind}/${name}`, more));
  return [
    ...named('allocator', allocators, thisMachine),
    ...named('agent', nodes),
    subjectOf('watcher', 'ipledger://watcher'),
    subjectOf('ovn-projector', 'ipledger://ovn-projector'),
    subjectOf('read-model', 'ipledger://read-model', thisMachine),
    ...named('operator', operators),
    subjectOf('viewer', 'ipledger://viewer'),
  ];
}

const subjectOf = (name: string, uri: string, more: readonly string[] = []): Subject => ({
  name,
  commonName: name.slice(0, 64),
  alternativeNames: [`URI:${uri}`, ...more],
  days,
});

/** The subjects for etcd, which uses the common name as user name. */
const etcdSubjects: readonly Subject[] = [
  { name: 'server', commonName: 'etcd', alternativeNames: thisMachine, days },
  { name: 'root', commonName: 'root', days },
  { name: 'allocator', commonName: 'ipledger', days },
  { name: 'auditor', commonName: 'ipledger-auditor', days },
];

async function ensureCertificate(authority: Authority, subject: Subject, renew: boolean): Promise<MadeCertificate> {
  const pair = {
    cert: join(authority.folder, `${subject.name}.crt`),
    key: join(authority.folder, `${subject.name}.key`),
  };
  const identity = subject.alternativeNames?.find((name) => name.startsWith('URI:'))?.slice(4) ?? subject.commonName;
  const made = (state: MadeCertificate['state']): MadeCertificate => ({
    files: { ca: authority.cert, ...pair },
    subject: identity,
    state,
  });
  if (!existsSync(pair.cert)) {
    await issueCertificate(authority, subject);
    return made('made');
  }
  if (!renew && isValid({ ca: authority.cert, ...pair })) return made('kept');
  await reissueCertificate(authority, subject, pair);
  return made('renewed');
}

/**
 * Whether the certificate stays valid beyond the renewal time and its authority is the current one.
 */
function isValid(files: TlsFiles): boolean {
  try {
    checkCertificates(files, readCertificates(files), Date.now() + renewalMs);
    return true;
  } catch {
    return false;
  }
}

/**
 * The certificates of everything that `make certs`, `make up` and tests start. Two authorities: one for ipledger's parts, which
 * know each other by the URI in a certificate, and one for etcd, whose every certificate opens the ledger itself.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkCertificates, readPems, type TlsFiles } from '../../lib/certificates.ts';
import { type Authority, issue, openAuthority, reissue, type Subject } from './pki.ts';

/** Any client that goes by a server's name or address, unlike ours, finds those of this machine. */
const thisMachine = ['DNS:localhost', 'IP:127.0.0.1', 'IP:::1'];
const days = 365;
/** What ends within this time is renewed. */
const renewalMs = 30 * 86_400_000;

/** For whom certificates are made. */
export interface Bearers {
  /** Replica ids. */
  readonly allocators: readonly string[];
  readonly nodes: readonly string[];
  readonly operators: readonly string[];
}

export interface MakeOptions extends Bearers {
  readonly folder: string;
  /** Whether all are made anew, whatever is left of their time. */
  readonly renew?: boolean;
}

/** A certificate that was made, and whose it is. */
export interface Made {
  readonly files: TlsFiles;
  /** The URI, or etcd's user. */
  readonly bearer: string;
  readonly state: 'made' | 'renewed' | 'kept';
}

/** Where the files of each part are. */
export interface CertificateFolder {
  readonly allocator: (replica: string) => TlsFiles;
  readonly agent: (node: string) => TlsFiles;
  readonly watcher: TlsFiles;
  readonly index: TlsFiles;
  readonly operator: (name: string) => TlsFiles;
  readonly viewer: TlsFiles;
  readonly etcd: {
    readonly server: TlsFiles;
    /** As etcd's users "root", "ipledger" and "ipledger-auditor". */
    readonly root: TlsFiles;
    readonly allocator: TlsFiles;
    readonly auditor: TlsFiles;
  };
}

/** Where the certificates of a folder are, or will be. */
export function certificateFolder(folder: string): CertificateFolder {
  const etcd = join(folder, 'etcd');
  const of = (where: string, name: string): TlsFiles => ({
    ca: join(where, 'ca.crt'),
    cert: join(where, `${name}.crt`),
    key: join(where, `${name}.key`),
  });
  return {
    allocator: (replica) => of(folder, `allocator-${replica}`),
    agent: (node) => of(folder, `agent-${node}`),
    watcher: of(folder, 'watcher'),
    index: of(folder, 'index'),
    operator: (name) => of(folder, `operator-${name}`),
    viewer: of(folder, 'viewer'),
    etcd: {
      server: of(etcd, 'server'),
      root: of(etcd, 'root'),
      allocator: of(etcd, 'allocator'),
      auditor: of(etcd, 'auditor'),
    },
  };
}

/** Makes what is missing in a folder, and renews what ends soon. */
export async function makeCertificates({ folder, renew = false, ...bearers }: MakeOptions): Promise<Made[]> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ours = await openAuthority(folder, 'ipledger authority');
  const etcds = await openAuthority(join(folder, 'etcd'), 'ipledger etcd authority');
  const made: Made[] = [];
  for (const subject of subjectsOf(bearers)) made.push(await provide(ours, subject, renew));
  for (const subject of etcdSubjects) made.push(await provide(etcds, subject, renew));
  return made;
}

/** The subjects of ipledger's own parts. */
export function subjectsOf({ allocators, nodes, operators }: Bearers): Subject[] {
  const named = (kind: string, names: readonly string[], more: readonly string[] = []): Subject[] =>
    names.map((name) => subjectOf(`${kind}-${name}`, `ipledger://${kind}/${name}`, more));
  return [
    ...named('allocator', allocators, thisMachine),
    ...named('agent', nodes),
    subjectOf('watcher', 'ipledger://watcher'),
    subjectOf('index', 'ipledger://index', thisMachine),
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

/** etcd takes the common name for its user's. */
const etcdSubjects: readonly Subject[] = [
  { name: 'server', commonName: 'etcd', alternativeNames: thisMachine, days },
  { name: 'root', commonName: 'root', days },
  { name: 'allocator', commonName: 'ipledger', days },
  { name: 'auditor', commonName: 'ipledger-auditor', days },
];

async function provide(authority: Authority, subject: Subject, renew: boolean): Promise<Made> {
  const pair = {
    cert: join(authority.folder, `${subject.name}.crt`),
    key: join(authority.folder, `${subject.name}.key`),
  };
  const bearer = subject.alternativeNames?.find((name) => name.startsWith('URI:'))?.slice(4) ?? subject.commonName;
  const made = (state: Made['state']): Made => ({ files: { ca: authority.cert, ...pair }, bearer, state });
  if (!existsSync(pair.cert)) {
    await issue(authority, subject);
    return made('made');
  }
  if (!renew && isGood({ ca: authority.cert, ...pair })) return made('kept');
  await reissue(authority, subject, pair);
  return made('renewed');
}

/** Whether it will do for a while: it is of this authority, too. */
function isGood(files: TlsFiles): boolean {
  try {
    checkCertificates(files, readPems(files), Date.now() + renewalMs);
    return true;
  } catch {
    return false;
  }
}

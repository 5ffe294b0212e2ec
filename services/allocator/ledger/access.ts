/**
 * How the allocator is let into etcd: by a client certificate, by user and password, by both or neither. The client package takes
 * certificates once and for all; here its channels get ours instead, which are renewed when their files are.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { type ChannelCredentials, type ChannelOptions, experimental } from '@grpc/grpc-js';
import type { Etcd3, IOptions } from 'etcd3';
import type { Logger } from '../../../lib/log.ts';
import { RenewedCertificates } from '../../../lib/renewal.ts';
import { filesFromEnvironment } from '../../../lib/tls.ts';

export interface EtcdAccess {
  /** For https:// endpoints: our certificate and the authorities of etcd's. */
  readonly certificates?: RenewedCertificates;
  /** For https:// endpoints that ask for no certificate: a PEM file of the authorities of theirs. */
  readonly authorities?: string;
  readonly user?: { readonly name: string; readonly passwordFile: string };
}

/**
 * Reads IPLEDGER_ETCD_CA, _CERT, _KEY, _USER and _PASSWORD_FILE. IPLEDGER_ETCD_CA alone is for an etcd that asks for no certificate.
 * @throws Error that says which of them is missing, or which file won't do.
 */
export function etcdAccess(env: NodeJS.ProcessEnv, log: Logger): EtcdAccess {
  const [name, passwordFile] = [env['IPLEDGER_ETCD_USER'] ?? '', env['IPLEDGER_ETCD_PASSWORD_FILE'] ?? ''];
  if ((name === '') !== (passwordFile === ''))
    throw new Error('IPLEDGER_ETCD_USER and IPLEDGER_ETCD_PASSWORD_FILE: set both, or none');
  const user = name === '' ? {} : { user: { name, passwordFile } };
  if (passwordFile !== '') passwordIn(passwordFile);

  const authorities = env['IPLEDGER_ETCD_CA'] ?? '';
  if (authorities !== '' && !env['IPLEDGER_ETCD_CERT'] && !env['IPLEDGER_ETCD_KEY']) {
    if (!existsSync(authorities)) throw new Error(`IPLEDGER_ETCD_CA: no file ${authorities}`);
    return { ...user, authorities };
  }
  const files = filesFromEnvironment(env, 'IPLEDGER_ETCD');
  return { ...user, ...(files && { certificates: new RenewedCertificates(files, { log }) }) };
}

/** A password, without the line's end that editors leave. @throws Error when the file cannot be read. */
const passwordIn = (file: string): string => readFileSync(file, 'utf8').replace(/\r?\n$/, '');

/** The part of the client's options that is about access. @throws Error for https:// without anything to verify it by. */
export function accessOptions(
  endpoints: readonly string[],
  { certificates, authorities, user }: EtcdAccess,
): Pick<IOptions, 'auth' | 'credentials'> {
  const isTls = (endpoint: string): boolean => endpoint.startsWith('https://');
  const secured = certificates !== undefined || authorities !== undefined;
  if (endpoints.some((endpoint) => isTls(endpoint) !== secured))
    throw new Error(
      secured
        ? `IPLEDGER_ETCD_CA is set: write every endpoint of etcd as https://host:port, not ${endpoints.join(',')}`
        : `${endpoints.join(',')}: IPLEDGER_ETCD_CA (and _CERT and _KEY, for an etcd that asks for a certificate) is missing`,
    );
  const rootCertificate = certificates?.current.ca ?? (authorities !== undefined && readFileSync(authorities));
  return {
    ...(rootCertificate && { credentials: { rootCertificate } }),
    ...(user && {
      auth: {
        username: user.name,
        // Read anew whenever the client authenticates: the password may have changed.
        get password() {
          return passwordIn(user.passwordFile);
        },
      },
    }),
  };
}

/** The client's inner parts that hold its credentials; it has no other way to give it some that change. */
interface Inside {
  readonly pool: {
    readonly authenticator: { credentials: ChannelCredentials };
    readonly hosts: readonly {
      readonly host: string;
      channelCredentials: ChannelCredentials;
      channelOptions: ChannelOptions;
    }[];
  };
}

/** Has a client make its connections with certificates that follow their files. */
export function useCertificates(client: Etcd3, certificates: RenewedCertificates): void {
  const { pool } = client as unknown as Inside;
  pool.authenticator.credentials = credentialsFor(certificates, undefined);
  for (const one of pool.hosts) {
    const address = one.host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    const isAddress = isIP(address) !== 0;
    one.channelCredentials = credentialsFor(certificates, isAddress ? address : undefined);
    // An address must not be sent ahead as the server's name; what its certificate says is compared with the address itself.
    if (isAddress) one.channelOptions = { ...one.channelOptions, 'grpc.ssl_target_name_override': 'etcd' };
  }
}

function credentialsFor(certificates: RenewedCertificates, address: string | undefined): ChannelCredentials {
  return experimental.createCertificateProviderChannelCredentials(
    certificates,
    certificates,
    address === undefined ? {} : { checkServerIdentity: (_name, shown) => checkServerIdentity(address, shown) },
  );
}

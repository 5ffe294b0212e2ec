/**
 * Authenticates the allocator to etcd: by client certificate, by user and password, by both or
 * neither. The client package reads certificates only once, so its channels get credentials that
 * follow the certificate files.
 */
import { existsSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { type ChannelCredentials, experimental } from '@grpc/grpc-js';
import type { Etcd3, IOptions } from 'etcd3';
import type { Logger } from '../../../lib/process/log.ts';
import { CertificateReloader } from '../../../lib/tls/certificate-reloader.ts';
import { filesFromEnvironment } from '../../../lib/tls/client-tls.ts';
import { poolOf } from './connection-pool.ts';

export interface EtcdAccess {
  /** The client certificate, and the authorities that sign etcd's certificate, for https://. */
  readonly certificates?: CertificateReloader;
  /** A PEM file of the authorities, for https:// endpoints that request no client certificate. */
  readonly authorities?: string;
  readonly user?: { readonly name: string; readonly passwordFile: string };
}

/**
 * Reads IPLEDGER_ETCD_CA, _CERT, _KEY, _USER and _PASSWORD_FILE. Set only IPLEDGER_ETCD_CA for an
 * etcd that requests no certificate.
 * @throws Error with the missing variable or the unusable file.
 */
export function etcdAccessFromEnvironment(env: NodeJS.ProcessEnv, log: Logger): EtcdAccess {
  const [name, passwordFile] = [env['IPLEDGER_ETCD_USER'] ?? '', env['IPLEDGER_ETCD_PASSWORD_FILE'] ?? ''];
  if ((name === '') !== (passwordFile === ''))
    throw new Error('IPLEDGER_ETCD_USER and IPLEDGER_ETCD_PASSWORD_FILE: set both, or none');
  const user = name === '' ? {} : { user: { name, passwordFile } };
  if (passwordFile !== '') readPassword(passwordFile);

  const authorities = env['IPLEDGER_ETCD_CA'] ?? '';
  if (authorities !== '' && !env['IPLEDGER_ETCD_CERT'] && !env['IPLEDGER_ETCD_KEY']) {
    if (!existsSync(authorities)) throw new Error(`IPLEDGER_ETCD_CA: the file ${authorities} does not exist`);
    return { ...user, authorities };
  }
  const files = filesFromEnvironment(env, 'IPLEDGER_ETCD');
  return { ...user, ...(files && { certificates: new CertificateReloader(files, { log }) }) };
}

/** Reads a password, without a trailing line break. @throws Error when the file is not readable. */
const readPassword = (file: string): string => readFileSync(file, 'utf8').replace(/\r?\n$/, '');

/** The client's access options. @throws Error if the scheme and the authorities do not fit */
export function accessOptions(
  endpoints: readonly string[],
  { certificates, authorities, user }: EtcdAccess,
): Pick<IOptions, 'auth' | 'credentials'> {
  const isTls = (endpoint: string): boolean => endpoint.startsWith('https://');
  const usesTls = certificates !== undefined || authorities !== undefined;
  if (endpoints.some((endpoint) => isTls(endpoint) !== usesTls))
    throw new Error(
      usesTls
        ? `IPLEDGER_ETCD_CA is set, but not every etcd endpoint uses TLS: write each as https://host:port, not ${endpoints.join(',')}`
        : `${endpoints.join(',')}: TLS to etcd needs its authorities: set IPLEDGER_ETCD_CA (and _CERT and _KEY, if etcd requests a certificate)`,
    );
  const rootCertificate = certificates?.current.ca ?? (authorities !== undefined && readFileSync(authorities));
  return {
    ...(rootCertificate && { credentials: { rootCertificate } }),
    ...(user && {
      auth: {
        username: user.name,
        // Read for each authentication, because the password may have changed.
        get password() {
          return readPassword(user.passwordFile);
        },
      },
    }),
  };
}

/** Makes a client use certificates that follow their files. */
export function useCertificates(client: Etcd3, certificates: CertificateReloader): void {
  const pool = poolOf(client);
  pool.authenticator.credentials = credentialsFor(certificates, undefined);
  for (const host of pool.hosts) {
    const address = host.host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
    const isAddress = isIP(address) !== 0;
    host.channelCredentials = credentialsFor(certificates, isAddress ? address : undefined);
    // TLS does not allow an IP address as server name (SNI). checkServerIdentity compares the
    // certificate with the address.
    if (isAddress) host.channelOptions = { ...host.channelOptions, 'grpc.ssl_target_name_override': 'etcd' };
  }
}

function credentialsFor(certificates: CertificateReloader, address: string | undefined): ChannelCredentials {
  return experimental.createCertificateProviderChannelCredentials(
    certificates,
    certificates,
    address === undefined
      ? {}
      : { checkServerIdentity: (_name, certificate) => checkServerIdentity(address, certificate) },
  );
}

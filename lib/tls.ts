/**
 * The one place where channels and servers get their credentials. Without certificate files everything is plaintext; with
 * them it is mutual TLS, both sides showing a certificate of the same authority.
 */
import { readFileSync } from 'node:fs';
import { ChannelCredentials, ServerCredentials } from '@grpc/grpc-js';

/** Paths of PEM files; all three, or none. */
export interface TlsFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * The files named by IPLEDGER_TLS_CA, _CERT and _KEY; undefined when all are empty.
 * @throws Error when only some are set.
 */
export function tlsFromEnvironment(env: NodeJS.ProcessEnv): TlsFiles | undefined {
  const [ca, cert, key] = [env['IPLEDGER_TLS_CA'] ?? '', env['IPLEDGER_TLS_CERT'] ?? '', env['IPLEDGER_TLS_KEY'] ?? ''];
  if (ca === '' && cert === '' && key === '') return undefined;
  if (ca === '' || cert === '' || key === '')
    throw new Error(
      'IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY: set all three for TLS, or none for plaintext',
    );
  return { ca, cert, key };
}

/** What a client of the gRPC API connects with. */
export function clientCredentials(tls: TlsFiles | undefined): ChannelCredentials {
  if (!tls) return ChannelCredentials.createInsecure();
  return ChannelCredentials.createSsl(readFileSync(tls.ca), readFileSync(tls.key), readFileSync(tls.cert));
}

/** What the gRPC server listens with; with TLS a client without a certificate is turned away. */
export function serverCredentials(tls: TlsFiles | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const pair = { private_key: readFileSync(tls.key), cert_chain: readFileSync(tls.cert) };
  return ServerCredentials.createSsl(readFileSync(tls.ca), [pair], true);
}

/** The credentials of grpc-js channels and servers. */
import {
  CallCredentials,
  ChannelCredentials,
  experimental,
  Metadata,
  ServerCredentials,
  status,
  type VerifyOptions,
} from '@grpc/grpc-js';
import { CertificateReloader } from './certificate-reloader.ts';
import { noRenegotiation } from './handshake-limits.ts';
import { type ClientTls, serverMismatch, type ServerKind, type Tls, type TokenSource } from './client-tls.ts';

export * from './client-tls.ts';

/** The credentials of a gRPC client. With TLS, it accepts only a server of this kind. */
export function clientCredentials(tls: ClientTls, server: ServerKind = 'allocator'): ChannelCredentials {
  if (!tls) return ChannelCredentials.createInsecure();
  const verification: VerifyOptions = {
    checkServerIdentity: (_host, { subjectaltname }) => serverMismatch(server, subjectaltname),
  };
  if (tls instanceof CertificateReloader)
    return experimental.createCertificateProviderChannelCredentials(tls, tls, verification);
  return experimental
    .createCertificateProviderChannelCredentials(tls.authorities, null, verification)
    .compose(bearerCredentials(tls.token));
}

/** Adds the token to each call. grpc-js sends it only to a server that was verified. */
const bearerCredentials = (source: TokenSource): CallCredentials =>
  CallCredentials.createFromMetadataGenerator((_call, callback) => {
    const read = async (): Promise<string> => source.read();
    read().then(
      (token) => {
        const metadata = new Metadata();
        metadata.set('authorization', `Bearer ${token}`);
        callback(null, metadata);
      },
      (error: unknown) => {
        const reason = error instanceof Error ? error : new Error(String(error));
        callback(Object.assign(reason, { code: status.UNAVAILABLE }));
      },
    );
  });

/**
 * The credentials of a gRPC server. With TLS, it rejects a client whose certificate is absent or
 * not trusted. With `acceptTokens`, such a client can connect, but has no identity. The server must
 * then reject each call without a valid token.
 */
export function serverCredentials(tls: Tls, { acceptTokens = false } = {}): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const credentials = experimental.createCertificateProviderServerCredentials(tls, tls, !acceptTokens);
  // grpc-js has no option for this (lib/grpc/server/handshakes.int.spec.ts).
  const updated = credentials as unknown as { updateSecureContextOptions(options: object | null): void };
  const update = updated.updateSecureContextOptions.bind(credentials);
  updated.updateSecureContextOptions = (options) => update(options && { ...options, ...noRenegotiation });
  return credentials;
}

/**
 * The one place where channels and servers get their credentials. Without certificate files everything is plaintext; with
 * them it is mutual TLS: both sides show a certificate of an authority that the other trusts, and take up new ones as their
 * files are renewed. A server is known by what its certificate says it is, never by the name or address it was reached at.
 */
import { ChannelCredentials, experimental, ServerCredentials } from '@grpc/grpc-js';
import type { TlsFiles } from './certificates.ts';
import { identityIn } from './identity.ts';
import type { Logger } from './log.ts';
import { RenewedCertificates } from './renewal.ts';

export type { TlsFiles } from './certificates.ts';

/** Certificates in use, or none for plaintext. */
export type Tls = RenewedCertificates | undefined;

/**
 * What IPLEDGER_TLS_CA, _CERT and _KEY name; undefined when all are empty.
 * @param log where it is said that certificates were taken up, or can’t be; undefined in a program that is over at once.
 * @throws Error when only some are set, or the files won't do.
 */
export function tlsFromEnvironment(env: NodeJS.ProcessEnv, log: Logger | undefined): Tls {
  const files = filesFromEnvironment(env, 'IPLEDGER_TLS');
  return files && openTls(files, log);
}

/**
 * The files that <prefix>_CA, _CERT and _KEY name; undefined when all are empty.
 * @throws Error when only some are set.
 */
export function filesFromEnvironment(env: NodeJS.ProcessEnv, prefix: string): TlsFiles | undefined {
  const [ca, cert, key] = [env[`${prefix}_CA`] ?? '', env[`${prefix}_CERT`] ?? '', env[`${prefix}_KEY`] ?? ''];
  if (ca === '' && cert === '' && key === '') return undefined;
  if (ca === '' || cert === '' || key === '')
    throw new Error(`${prefix}_CA, ${prefix}_CERT and ${prefix}_KEY: set all three for TLS, or none for plaintext`);
  return { ca, cert, key };
}

/** Certificates of a part of ours. @throws Error when the files won't do. */
export function openTls(files: TlsFiles, log?: Logger): RenewedCertificates {
  return new RenewedCertificates(files, {
    log,
    check: (shown) => {
      try {
        identityIn(shown.subjectAltName);
      } catch (error) {
        throw new Error(`${files.cert}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      }
    },
  });
}

/** Whom a client may speak to. */
export type ServerKind = 'allocator' | 'index';

/** What a client of the gRPC API connects with; with TLS it speaks to those only whom it means. */
export function clientCredentials(tls: Tls, server: ServerKind = 'allocator'): ChannelCredentials {
  if (!tls) return ChannelCredentials.createInsecure();
  return experimental.createCertificateProviderChannelCredentials(tls, tls, {
    checkServerIdentity: (_host, { subjectaltname }) => whyNot(server, subjectaltname),
  });
}

/** What the gRPC server listens with; with TLS a client without a certificate is turned away. */
export function serverCredentials(tls: Tls): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  return experimental.createCertificateProviderServerCredentials(tls, tls, true);
}

function whyNot(server: ServerKind, alternativeNames: string | undefined): Error | undefined {
  const wanted = server === 'allocator' ? 'ipledger://allocator/<id>' : 'ipledger://index';
  try {
    const { kind, uri } = identityIn(alternativeNames);
    return kind === server ? undefined : new Error(`the server is ${uri}, and not ${wanted}`);
  } catch {
    const names = alternativeNames ?? 'nobody';
    return new Error(`the server is no ${server} of ours: its certificate names ${names}, and not ${wanted}`);
  }
}

/**
 * What a person is told when no connection came about, which grpc-js says in words of OpenSSL or in none at all.
 * @param details as grpc-js gives them.
 * @param secured whether it was tried with TLS.
 */
export function whyNoConnection(details: string, secured: boolean): string {
  const reason = details
    .replace(/^No connection established\. Last error: (Error: )?/, '')
    .replace(/\.? Resolution note: .*$/s, '');
  // A server that does not take a certificate, or no plaintext, says nothing: it hangs up.
  if (/^(Failed to connect|read ECONNRESET|Socket closed|Connection closed before)/.test(reason))
    return secured
      ? 'the other side closed the connection at once; perhaps it does not accept our certificate'
      : 'the other side closed the connection at once; it may speak TLS only: set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY';
  if (/wrong version number|packet length too long/.test(reason)) return 'it speaks plaintext, and TLS is set up here';
  if (/self-signed certificate|unable to (verify|get)/.test(reason))
    return `its certificate is of no authority that is trusted here (${reason})`;
  if (reason === 'certificate has expired') return 'its certificate has expired';
  return reason;
}

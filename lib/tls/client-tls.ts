/**
 * Decides how clients and servers use TLS, and how they identify themselves. With certificate files
 * they use mutual TLS, and reload renewed files. Without such files they use plaintext. A client
 * verifies the identity in the server's certificate, not its name or address. A node agent may use
 * a ServiceAccount token instead of a certificate: it verifies the server in the same way, and then
 * sends the token.
 */
import { errorMessage } from '../errors.ts';
import { AuthorityReloader } from './authority-reloader.ts';
import type { TlsFiles } from './certificates.ts';
import { identityIn } from './identity.ts';
import type { Logger } from '../process/log.ts';
import { CertificateReloader } from './certificate-reloader.ts';
import { TokenFile } from './token-file.ts';

export type { TlsFiles } from './certificates.ts';

/** The certificates in use; undefined for plaintext. */
export type Tls = CertificateReloader | undefined;

/** The TLS settings of a client that identifies itself by a token instead of a certificate. */
export interface TokenTls {
  /** The authorities of the server's certificate. */
  readonly authorities: AuthorityReloader;
  readonly token: TokenSource;
}

/** Returns a client's token for each call. */
export interface TokenSource {
  /** @throws Error without a token; also from the promise */
  read(): string | Promise<string>;
}

/** How a client connects: with a certificate, with a token, or in plaintext. */
export type ClientTls = Tls | TokenTls;

/**
 * Loads the files of IPLEDGER_TLS_CA, _CERT and _KEY; undefined if all are empty.
 * @param log for reloads; undefined in a short-lived program
 * @throws Error if only some are set, or the files are invalid
 */
export function tlsFromEnvironment(env: NodeJS.ProcessEnv, log: Logger | undefined): Tls {
  const files = filesFromEnvironment(env, 'IPLEDGER_TLS');
  return files && loadTls(files, log);
}

/**
 * Returns the files of <prefix>_CA, _CERT and _KEY; undefined if all are empty.
 * @throws Error if only some are set
 */
export function filesFromEnvironment(env: NodeJS.ProcessEnv, prefix: string): TlsFiles | undefined {
  const [ca, cert, key] = [env[`${prefix}_CA`] ?? '', env[`${prefix}_CERT`] ?? '', env[`${prefix}_KEY`] ?? ''];
  if (ca === '' && cert === '' && key === '') return undefined;
  if (ca === '' || cert === '' || key === '')
    throw new Error(`${prefix}_CA, ${prefix}_CERT and ${prefix}_KEY: set all three for TLS, or none for plaintext`);
  return { ca, cert, key };
}

/**
 * Loads the authorities of IPLEDGER_TLS_CA, for a client that identifies itself by a token file.
 * @throws Error without authorities, because a token is sent only over TLS; with a certificate,
 * which would be a second identity; or if a file is invalid
 */
export function tokenTlsFromEnvironment(env: NodeJS.ProcessEnv, tokenFile: string, log: Logger | undefined): TokenTls {
  const ca = env['IPLEDGER_TLS_CA'] ?? '';
  if (ca === '')
    throw new Error(
      '--token-file needs IPLEDGER_TLS_CA: the token is sent only to an allocator whose certificate was verified. Set it to the file of trusted authorities',
    );
  if (env['IPLEDGER_TLS_CERT'] || env['IPLEDGER_TLS_KEY'])
    throw new Error('--token-file and IPLEDGER_TLS_CERT are two identities: set one of them');
  return { authorities: new AuthorityReloader(ca, { log }), token: new TokenFile(tokenFile) };
}

/** Loads certificates with an identity of ipledger. @throws Error if the files are invalid */
export function loadTls(files: TlsFiles, log?: Logger): CertificateReloader {
  return new CertificateReloader(files, {
    log,
    check: (certificate) => {
      try {
        identityIn(certificate.subjectAltName);
      } catch (error) {
        throw new Error(`${files.cert}: ${errorMessage(error)}`, { cause: error });
      }
    },
  });
}

/** The kinds of servers that a client may connect to. */
export type ServerKind = 'allocator' | 'read-model';

/** Explains why a certificate with these names is not that of such a server; undefined if it is. */
export function serverMismatch(server: ServerKind, alternativeNames: string | undefined): Error | undefined {
  const expected = server === 'allocator' ? 'ipledger://allocator/<id>' : 'ipledger://read-model';
  try {
    const { kind, uri } = identityIn(alternativeNames);
    return kind === server ? undefined : new Error(`the server is ${uri}, and not ${expected}`);
  } catch {
    const names = alternativeNames ?? 'no identity';
    return new Error(`the server is no ${server} of ours: its certificate names ${names}, and not ${expected}`);
  }
}

/**
 * Explains a failed connection, which is reported as an OpenSSL error or without a reason.
 * @param details the details of the error
 * @param isSecure whether the client used TLS
 */
export function explainConnectionFailure(details: string, isSecure: boolean): string {
  const reason = details
    .replace(/^No connection established\. Last error: (Error: )?/, '')
    .replace(/\.? Resolution note: .*$/s, '');
  // A server that rejects the certificate, or plaintext, closes the connection without a reason.
  if (/^(Failed to connect|read ECONNRESET|Socket closed|Connection closed before)/.test(reason))
    return isSecure
      ? 'the server closed the connection immediately; it may not accept our certificate, or accept tokens only with --token-review'
      : 'the server closed the connection immediately; it may speak TLS only: set IPLEDGER_TLS_CA, IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY';
  if (/wrong version number|packet length too long/.test(reason))
    return 'it speaks plaintext, and TLS is configured here';
  if (/self-signed certificate|unable to (verify|get)/.test(reason))
    return `its certificate is of no authority that is trusted here (${reason})`;
  if (reason === 'certificate has expired') return 'its certificate has expired';
  return reason;
}

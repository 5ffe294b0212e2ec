/**
 * A certificate, its key and the authorities that its bearer trusts, as PEM files hold them; and what can be said of files
 * that won't do before a peer turns them away.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Paths of PEM files. */
export interface TlsFiles {
  /** The authorities trusted: one, or several while one takes the place of another. */
  readonly ca: string;
  /** The certificate shown to others; behind it, those that lead to an authority of theirs, if any. */
  readonly cert: string;
  readonly key: string;
}

/** What the files hold. */
export interface Certificates {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @throws Error that names the file which can't be read. */
export function readPems({ ca, cert, key }: TlsFiles): Certificates {
  return { ca: readPem(ca), cert: readPem(cert), key: readPem(key) };
}

function readPem(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`cannot read ${file}: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Finds what a peer would object to, or could not even tell.
 * @param now milliseconds since 1970.
 * @returns the certificate that will be shown.
 * @throws Error that names the file and says what to do: half written, a key of another certificate, a certificate that is
 *   not valid now or that no authority in `ca` stands behind.
 */
export function checkCertificates(files: TlsFiles, { ca, cert, key }: Certificates, now: number): X509Certificate {
  const authorities = certificatesIn(files.ca, ca);
  const [shown, ...links] = certificatesIn(files.cert, cert);
  if (!shown) throw new Error(`${files.cert} holds no certificate`);
  if (!shown.checkPrivateKey(keyIn(files.key, key)))
    throw new Error(`the key in ${files.key} is not that of the certificate in ${files.cert}`);
  if (expiryOf(shown) <= now)
    throw new Error(`the certificate in ${files.cert} expired at ${iso(expiryOf(shown))}: renew it`);
  if (shown.validFromDate.getTime() > now)
    throw new Error(
      `the certificate in ${files.cert} is valid from ${iso(shown.validFromDate.getTime())} on, and it is ${iso(now)} here: is a clock wrong?`,
    );
  if (!isVouchedFor(shown, links, authorities))
    throw new Error(`the certificate in ${files.cert} was issued by none of the authorities in ${files.ca}`);
  return shown;
}

/** When a certificate ends, milliseconds since 1970. */
export const expiryOf = (certificate: X509Certificate): number => certificate.validToDate.getTime();

/** An instant as people and logs write it. */
export const iso = (at: number): string => new Date(at).toISOString();

function certificatesIn(file: string, pem: Buffer): X509Certificate[] {
  const text = pem.toString('latin1');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0 || blocks.length !== text.split('-----BEGIN CERTIFICATE-----').length - 1)
    throw new Error(`${file} is not, or not yet, a whole PEM file of certificates`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw new Error(`${file} holds something that is no certificate: ${reasonOf(error)}`, { cause: error });
  }
}

function keyIn(file: string, pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new Error(`${file} is not, or not yet, a PEM file of a private key without a passphrase`, { cause: error });
  }
}

/** Walks from a certificate by its issuers to an authority. */
function isVouchedFor(
  shown: X509Certificate,
  links: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  const issued = (issuer: X509Certificate): boolean => shown.checkIssued(issuer) && shown.verify(issuer.publicKey);
  if (authorities.some(issued)) return true;
  return links.some(
    (link) =>
      issued(link) &&
      isVouchedFor(
        link,
        links.filter((other) => other !== link),
        authorities,
      ),
  );
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

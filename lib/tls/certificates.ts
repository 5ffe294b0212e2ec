/** Reads a certificate, its key and the trusted authorities from PEM files, and checks them. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { errorMessage } from '../errors.ts';

export interface TlsFiles {
  /** The trusted authorities: one, or several during a rotation. */
  readonly ca: string;
  /** The own certificate, followed by intermediate certificates if there are any. */
  readonly cert: string;
  readonly key: string;
}

export interface Certificates {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** @throws Error with the file that cannot be read */
export function readCertificates({ ca, cert, key }: TlsFiles): Certificates {
  return { ca: readPem(ca), cert: readPem(cert), key: readPem(key) };
}

function readPem(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`cannot read ${file}: ${errorMessage(error)}`, { cause: error });
  }
}

/**
 * Checks the files for errors for which a peer would reject them.
 * @param now milliseconds since 1970
 * @returns the own certificate
 * @throws Error with the file and the remedy: an incomplete file, a key of another certificate, a
 * certificate that is not valid now, or a certificate that no authority in `ca` has issued
 */
export function checkCertificates(files: TlsFiles, { ca, cert, key }: Certificates, now: number): X509Certificate {
  const authorities = parseCertificates(files.ca, ca);
  const [own, ...intermediates] = parseCertificates(files.cert, cert);
  if (!own) throw new Error(`${files.cert} contains no certificate`);
  if (!own.checkPrivateKey(keyIn(files.key, key)))
    throw new Error(`the key in ${files.key} is not that of the certificate in ${files.cert}`);
  if (expiryOf(own) <= now)
    throw new Error(`the certificate in ${files.cert} expired at ${formatInstant(expiryOf(own))}: renew it`);
  if (own.validFromDate.getTime() > now)
    throw new Error(
      `the certificate in ${files.cert} is valid from ${formatInstant(own.validFromDate.getTime())}, and the time is ${formatInstant(now)} here: check the clocks`,
    );
  if (!isIssuedBy(own, intermediates, authorities))
    throw new Error(`the certificate in ${files.cert} was issued by none of the authorities in ${files.ca}`);
  return own;
}

export const expiryOf = (certificate: X509Certificate): number => certificate.validToDate.getTime();

/** Formats milliseconds since 1970 as RFC 3339. */
export const formatInstant = (at: number): string => new Date(at).toISOString();

/** Parses the certificates of a PEM file. @throws Error for an incomplete or empty file */
export function parseCertificates(file: string, pem: Buffer): X509Certificate[] {
  const text = pem.toString('latin1');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0 || blocks.length !== text.split('-----BEGIN CERTIFICATE-----').length - 1)
    throw new Error(`${file} is not, or not yet, a complete PEM file of certificates`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw new Error(`${file} contains an invalid certificate: ${errorMessage(error)}`, { cause: error });
  }
}

function keyIn(file: string, pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    throw new Error(`${file} is not, or not yet, a PEM file of a private key without a passphrase`, { cause: error });
  }
}

/** Whether one of the authorities has issued a certificate, directly or through intermediates. */
function isIssuedBy(
  certificate: X509Certificate,
  intermediates: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  const hasIssuer = (issuer: X509Certificate): boolean =>
    certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  if (authorities.some(hasIssuer)) return true;
  return intermediates.some(
    (issuer) =>
      hasIssuer(issuer) &&
      isIssuedBy(
        issuer,
        intermediates.filter((other) => other !== issuer),
        authorities,
      ),
  );
}

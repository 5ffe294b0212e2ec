/** Reads the bearer token from the metadata of a call, within limits, before any other work on it. */
import type { Metadata } from '@grpc/grpc-js';
import { IpledgerError } from '../../errors.ts';
import { isTokenShaped } from '../../tls/token-file.ts';

const scheme = 'Bearer ';
/** The token of an identity provider that lists 200 groups of its user has about 12 KiB. */
const maxUserTokenLength = 16_384;

/** Whether a text has the form of a bearer token (RFC 6750, section 2.1), of limited length. It verifies nothing. */
const isUserTokenShaped = (text: string): boolean => text.length <= maxUserTokenLength && /^[\w.~+/-]+=*$/.test(text);

/**
 * Returns the token of the metadata key `authorization`. It verifies nothing.
 * @param acceptsUsers whether tokens of Kubernetes users are accepted, which may have other forms than that of ServiceAccounts
 * @throws IpledgerError UNAUTHENTICATED without exactly one value, or when the value is no token of limited length
 */
export function bearerToken(metadata: Metadata, acceptsUsers: boolean): string {
  const [value, ...others] = metadata.get('authorization');
  if (value === undefined)
    throw new IpledgerError(
      'UNAUTHENTICATED',
      'the client has neither a certificate of a trusted authority nor a token: set IPLEDGER_TLS_CERT and IPLEDGER_TLS_KEY, or --token-file',
    );
  const text = String(value);
  const token = text.slice(scheme.length);
  const isShaped = acceptsUsers ? isUserTokenShaped : isTokenShaped;
  if (others.length === 0 && text.startsWith(scheme) && isShaped(token)) return token;
  throw new IpledgerError(
    'UNAUTHENTICATED',
    'the authorization metadata is not "Bearer", a space and one token of the accepted form and length: check --token-file, or the token of the kubeconfig',
  );
}

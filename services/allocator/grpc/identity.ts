/** Who calls: the URI SAN of the client's certificate, "ipledger://agent/node-1"; never a field of the request. */
import type { ServerUnaryCall } from '@grpc/grpc-js';

/** Where TLS is off nobody is known. */
export const anonymous = 'anonymous';

/**
 * The authenticated identity of a call's peer; "anonymous" without TLS, and with a certificate that does not name exactly one
 * identity of ours.
 */
export function identityOf(call: Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'>): string {
  const [identity, ...more] = identitiesIn(call.getAuthContext().sslPeerCertificate?.subjectaltname ?? '');
  return identity !== undefined && more.length === 0 ? identity : anonymous;
}

/** Node writes names as `DNS:a, URI:b`, and in quotes what has a comma or a quote in it: such a one is never ours. */
function identitiesIn(names: string): string[] {
  const entries = names.matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g);
  return [...entries].flatMap(([, kind, value = '']) =>
    kind === 'URI' && /^ipledger:\/\/[a-z]+(\/[A-Za-z0-9._-]+)?$/.test(value) ? [value] : [],
  );
}

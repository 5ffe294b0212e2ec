/** Who calls: the URI SAN of the client's certificate, "ipledger://agent/node-1"; never a field of the request. */
import type { ServerUnaryCall } from '@grpc/grpc-js';

/** Where TLS is off nobody is known. */
export const anonymous = 'anonymous';

/** The authenticated identity of a call's peer; "anonymous" without TLS, or with a certificate that names no identity of ours. */
export function identityOf(call: Pick<ServerUnaryCall<unknown, unknown>, 'getAuthContext'>): string {
  const names = call.getAuthContext().sslPeerCertificate?.subjectaltname ?? '';
  const found = /(?:^|, )URI:(ipledger:\/\/[a-z0-9./-]+)/.exec(names);
  return found?.[1] ?? anonymous;
}

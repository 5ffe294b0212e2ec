/**
 * Authorizes every call on a server with TLS, including health and reflection. The identity comes
 * from the certificate, or from a bearer token if the server accepts tokens. The permission comes
 * from the table in permissions.ts. Handlers receive the identity, and do no authorization
 * themselves.
 */
import type { ServerHttp2Session } from 'node:http2';
import { TLSSocket } from 'node:tls';
import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { errorCodeMetadata, IpledgerError } from '../../errors.ts';
import { type Identity, identityIn, parseIdentity } from '../../tls/identity.ts';
import { type KubernetesUser, parseKubernetesIdentity } from '../../tls/kubernetes-user.ts';
import type { Logger } from '../../process/log.ts';
import { callWith } from './call-limits.ts';
import { refuseUnauthorizedRequest, refuseUnauthorizedCaller } from './permissions.ts';
import { createRejectionLogger, statusDetails } from './call-status.ts';
import { isTokenShaped } from '../../tls/token-file.ts';

/** The actor of events on a server without TLS. */
export const anonymous = 'anonymous';

/** The metadata key for the identity on whose behalf a standby forwards a call to the writer. */
export const onBehalfOfKey = 'ipledger-on-behalf-of';

/** A limit, because a status is sent in a header. */
const maxDetailsLength = 1_000;

/** The caller of each call in progress, by its metadata. */
const callers = new WeakMap<Metadata, Identity>();
/** The identity of each connection, because decoding a certificate is expensive. */
const peers = new WeakMap<object, Identity>();

/** Functions that verify a caller with a token again, by the metadata of the call. */
const verifications = new WeakMap<Metadata, () => Promise<unknown>>();

/** The caller of the call with this metadata; undefined without TLS. */
export const callerOf = (metadata: Metadata): Identity | undefined => callers.get(metadata);

/** How long a verified stream is served although its caller cannot be verified again. */
const unverifiedMs = 60_000;

/**
 * Returns a function that verifies the caller of a stream again; undefined for a caller with a
 * certificate, which is verified once for its connection. The function throws IpledgerError
 * UNAUTHENTICATED or PERMISSION_DENIED if a new call would be rejected. It throws other errors only
 * after a minute without a successful verification.
 */
export function repeatedVerificationOf(metadata: Metadata): (() => Promise<void>) | undefined {
  const verify = verifications.get(metadata);
  let verifiedAt = performance.now();
  return (
    verify &&
    (async () => {
      try {
        await verify();
        verifiedAt = performance.now();
      } catch (error) {
        const isRejected = ['UNAUTHENTICATED', 'PERMISSION_DENIED'].includes(IpledgerError.from(error).code);
        if (isRejected || performance.now() - verifiedAt > unverifiedMs) throw error;
      }
    })
  );
}

/**
 * Returns the identity of a client without a certificate.
 * @param connection identifies the connection, for limits
 * @throws IpledgerError UNAUTHENTICATED for an invalid token; UNAVAILABLE, OVERLOADED or
 * RATE_LIMITED if it was not verified
 */
export type AuthenticateToken = (token: string, connection: object) => Promise<Identity | KubernetesUser>;

/** How a server treats clients that have a token but no certificate. */
export interface TokenAccess {
  readonly authenticate: AuthenticateToken;
  /**
   * Rejects a call that Kubernetes does not permit to this user. Absent: the server accepts no
   * Kubernetes users.
   * @throws IpledgerError PERMISSION_DENIED; UNAVAILABLE, OVERLOADED or RATE_LIMITED if it was not
   * reviewed
   */
  readonly authorize?: (user: KubernetesUser, path: string) => Promise<void>;
}

/** Rejects a permitted call before its request is read. @throws IpledgerError RATE_LIMITED */
export type RefuseCaller = (caller: Identity, path: string) => void;

/**
 * Rejects calls without permission, on a server with TLS. Only then the request is read and
 * decoded.
 * @param tokens absent if the server accepts only certificates
 */
export function authorizationInterceptor(
  log: Logger,
  tokens?: TokenAccess,
  refuseCaller: RefuseCaller = () => undefined,
): ServerInterceptor {
  const logRejection = createRejectionLogger(log);
  return ({ path }, call) => {
    let caller: Identity | undefined;
    const reject = (thrown: unknown, metadata?: Metadata): void => {
      const error = IpledgerError.from(thrown);
      // Disconnects unless the error is transient: such a client may succeed soon.
      if (metadata && error.kind !== 'transient') callWith(metadata)?.disconnect();
      // Shortened, because the message may quote the request, whose texts are not limited yet.
      const details = statusDetails(error.message, maxDetailsLength);
      logRejection({ path, peer: call.getPeer(), reason: details });
      const sent = new Metadata();
      sent.set(errorCodeMetadata, error.code);
      call.sendStatus({ code: error.grpcStatus, details, metadata: sent });
    };
    const listener = {
      onReceiveMetadata(metadata: Metadata, next: (metadata: Metadata) => void): void {
        const pass = (represented: Identity): void => {
          refuseCaller(represented, path);
          caller = represented;
          callers.set(metadata, represented);
          next(metadata);
        };
        try {
          const peer = authenticate(call, metadata, tokens);
          if (!(peer instanceof Promise)) {
            pass(authorizeClient(peer, metadata, path));
            return;
          }
          const authorize = (client: Identity | KubernetesUser): Promise<Identity> =>
            authorizeTokenClient(client, metadata, path, tokens);
          verifications.set(metadata, async () => authorize(await authenticate(call, metadata, tokens)));
          void peer
            .then(authorize)
            .then(pass)
            .catch((error: unknown) => reject(error, metadata));
        } catch (error) {
          reject(error, metadata);
        }
      },
      onReceiveMessage(message: unknown, next: (message: unknown) => void): void {
        try {
          // grpc-js delivers no message before the metadata was passed on. If it did, the request
          // would be unchecked.
          if (!caller) throw new IpledgerError('BUG', `${path}: a request arrived before its caller was authenticated`);
          refuseUnauthorizedRequest(caller, path, message);
        } catch (error) {
          reject(error);
          return;
        }
        next(message);
      },
    };
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
}

/**
 * Returns the identity in the client's certificate, or else in its token.
 * @throws IpledgerError UNAUTHENTICATED without an identity; also from the promise
 */
function authenticate(
  call: ServerInterceptingCallInterface,
  metadata: Metadata,
  tokens: TokenAccess | undefined,
): Identity | Promise<Identity | KubernetesUser> {
  const connection = callWith(metadata)?.session;
  const known = connection && peers.get(connection);
  if (known) return known;
  // grpc-js returns no certificate if no trusted authority has issued it.
  const certificate = call.getAuthContext().sslPeerCertificate;
  if (!certificate && connection) closeUntrusted(connection);
  if (!certificate && tokens)
    return tokens.authenticate(bearerToken(metadata, tokens.authorize !== undefined), connection ?? metadata);
  const identity = identityIn(certificate?.subjectaltname);
  if (connection) peers.set(connection, identity);
  return identity;
}

/**
 * Closes the connection of a client whose certificate no trusted authority has issued. A connection
 * is verified only when it opens, so the client would stay without an identity even after its
 * authority becomes trusted. Its next call opens a new connection.
 * @throws IpledgerError UNAUTHENTICATED, unless the client presented no certificate
 */
function closeUntrusted(connection: ServerHttp2Session): void {
  const { socket } = connection;
  if (!(socket instanceof TLSSocket) || socket.authorized || !socket.getPeerX509Certificate()) return;
  connection.close(); // after the reply to this call
  throw new IpledgerError(
    'UNAUTHENTICATED',
    `the client's certificate is not accepted (${String(socket.authorizationError)}): issue it by an authority in IPLEDGER_TLS_CA of the server`,
  );
}

/**
 * Returns the caller that the client represents, if it may call.
 * @throws IpledgerError PERMISSION_DENIED
 */
function authorizeClient(client: Identity, metadata: Metadata, path: string): Identity {
  const caller = representedBy(client, metadata);
  callWith(metadata)?.identify(client, caller);
  refuseUnauthorizedCaller(caller, path);
  return caller;
}

/**
 * Authorizes a client with a token. Only this replica knows the groups of a Kubernetes user, so
 * this replica has the call reviewed. If it forwards the call, the writer trusts that the review
 * was done.
 */
async function authorizeTokenClient(
  client: Identity | KubernetesUser,
  metadata: Metadata,
  path: string,
  tokens: TokenAccess | undefined,
): Promise<Identity> {
  const caller = authorizeClient(client, metadata, path);
  if (client.kind !== 'kubernetes-user') return caller;
  if (!tokens?.authorize || !('groups' in client))
    throw new IpledgerError('PERMISSION_DENIED', `${client.uri}: this server accepts no Kubernetes users`);
  await tokens.authorize(client, path);
  return caller;
}

/** Only an allocator may call on behalf of another identity. */
function representedBy(peer: Identity, metadata: Metadata): Identity {
  const [principal] = metadata.get(onBehalfOfKey);
  if (principal === undefined) return peer;
  const identity = parseIdentity(String(principal)) ?? parseKubernetesIdentity(String(principal));
  if (peer.kind !== 'allocator' || !identity)
    throw new IpledgerError('PERMISSION_DENIED', `${peer.uri} may not call on behalf of ${String(principal)}`);
  return identity;
}

const scheme = 'Bearer ';
/** A limit for tokens of users: with 200 groups, an identity provider's token has about 12 KiB. */
const maxUserTokenLength = 16_384;

/** Whether a text has the form of a bearer token (RFC 6750, section 2.1). Verifies nothing. */
const isUserTokenShaped = (text: string): boolean => text.length <= maxUserTokenLength && /^[\w.~+/-]+=*$/.test(text);

/**
 * Returns the token in the metadata key `authorization`, before any other work on it. Verifies
 * nothing.
 * @param acceptsUsers whether tokens of Kubernetes users are accepted, which may have other forms
 * than those of ServiceAccounts
 * @throws IpledgerError UNAUTHENTICATED unless there is exactly one value, a token of limited
 * length
 */
function bearerToken(metadata: Metadata, acceptsUsers: boolean): string {
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

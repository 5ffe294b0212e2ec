/**
 * The one door that every call comes in by where TLS is on, those to health and reflection too: who calls is read from the
 * certificate, and whether they may from the table in permissions.ts. Handlers are told whom they serve, and decide nothing of it.
 */
import {
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import { errorCodeMetadata, IpledgerError } from '../errors.ts';
import { type Identity, identityIn, parseIdentity } from '../identity.ts';
import type { Logger } from '../log.ts';
import { refuseRequest, refuseStranger } from './permissions.ts';

/** The actor of events where TLS is off: nobody is known. */
export const anonymous = 'anonymous';

/** Metadata by which a standby says whose call it passes on to the writer. */
export const onBehalfOf = 'ipledger-on-behalf-of';

/** Whoever is refused may try again without end: so many refusals are logged in so long, and then how many were not. */
const logged = { most: 20, perMs: 60_000 };

/** A status travels in a header. */
const mostDetails = 1_000;

/** By the metadata of each call in progress. */
const callers = new WeakMap<Metadata, Identity>();
/** By connection: to decode a certificate takes longer than most decisions. */
const peers = new WeakMap<object, Identity>();

/** Who makes the call of this metadata; undefined where TLS is off. */
export const callerOf = (metadata: Metadata): Identity | undefined => callers.get(metadata);

/** For a server that speaks TLS: it answers nobody who is not entitled. */
export function authorization(log: Logger): ServerInterceptor {
  const tell = sparingly(log);
  return ({ path }, call) => {
    let caller: Identity | undefined;
    const refuse = (thrown: unknown): void => {
      const error = IpledgerError.from(thrown);
      // It may quote the request, whose texts are not compared with their limits yet.
      const details = error.message.slice(0, mostDetails);
      tell({ path, peer: call.getPeer(), reason: details });
      const metadata = new Metadata();
      metadata.set(errorCodeMetadata, error.code);
      call.sendStatus({ code: error.grpcStatus, details, metadata });
    };
    const listener = {
      onReceiveMetadata(metadata: Metadata, next: (metadata: Metadata) => void): void {
        try {
          caller = representedBy(peerOf(call), metadata);
          refuseStranger(caller, path);
          callers.set(metadata, caller);
        } catch (error) {
          refuse(error);
          return;
        }
        next(metadata);
      },
      onReceiveMessage(message: unknown, next: (message: unknown) => void): void {
        try {
          if (caller) refuseRequest(caller, path, message);
        } catch (error) {
          refuse(error);
          return;
        }
        next(message);
      },
    };
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };
}

/** Logs refusals, as many as anybody reads. */
function sparingly(log: Logger): (refusal: object) => void {
  let [since, count] = [-Infinity, 0];
  return (refusal) => {
    if (performance.now() - since > logged.perMs) {
      if (count > logged.most) log.warn({ notLogged: count - logged.most }, 'more calls were refused than were logged');
      [since, count] = [performance.now(), 0];
    }
    count += 1;
    if (count <= logged.most) log.warn(refusal, 'a call was refused');
  };
}

/** @throws IpledgerError UNAUTHENTICATED when the certificate names no identity of ours, or several. */
function peerOf(call: ServerInterceptingCallInterface): Identity {
  // grpc-js shows no handle of the connection; without one the certificate is decoded for each call.
  const connection = (call as { readonly stream?: { readonly session?: object } }).stream?.session;
  const known = connection && peers.get(connection);
  if (known) return known;
  const identity = identityIn(call.getAuthContext().sslPeerCertificate?.subjectaltname);
  if (connection) peers.set(connection, identity);
  return identity;
}

/** An allocator may speak for whoever asked it; nobody else may speak for another. */
function representedBy(peer: Identity, metadata: Metadata): Identity {
  const [principal] = metadata.get(onBehalfOf);
  if (principal === undefined) return peer;
  const identity = parseIdentity(String(principal));
  if (peer.kind !== 'allocator' || !identity)
    throw new IpledgerError('PERMISSION_DENIED', `${peer.uri} may not call on behalf of ${String(principal)}`);
  return identity;
}

/** Refuses calls over the limits of client-connections.ts before anything is read of them. */
import type { ServerHttp2Stream } from 'node:http2';
import { Metadata, ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';
import { type ErrorCode, errorCodeMetadata, type IpledgerError } from '../../errors.ts';
import type { Logger } from '../../process/log.ts';
import type { ArrivingCall } from './arriving-call.ts';
import { callOn } from './client-connections.ts';
import { createRejectionLogger } from './call-status.ts';

/** The property of the metadata that holds its call: a weak map would burden garbage collection. */
const arrivingCall = Symbol('arrivingCall');
type TaggedMetadata = Metadata & { [arrivingCall]?: ArrivingCall };

/** The call with this metadata; undefined on a server without limits. */
export const callWith = (metadata: Metadata): ArrivingCall | undefined => (metadata as TaggedMetadata)[arrivingCall];

/** The errors that a client can cause with little work, as often as it likes. */
const refusalCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'OVERLOADED',
  'PERMISSION_DENIED',
  'RATE_LIMITED',
  'UNAUTHENTICATED',
]);

/**
 * The interceptor that a server must have first: only the first interceptor gets the call with its
 * stream.
 */
export function limitsInterceptor(log: Logger): ServerInterceptor {
  const logRejection = createRejectionLogger(log);
  return ({ path }, call) => {
    // Reads a private property: grpc-js does not publish the stream.
    const { stream } = call as { readonly stream?: ServerHttp2Stream };
    const arriving = stream && callOn(stream);
    const reject = (error: IpledgerError): void => {
      logRejection({ path, peer: call.getPeer(), reason: error.message });
      const metadata = new Metadata();
      metadata.set(errorCodeMetadata, error.code);
      const send = (): void => call.sendStatus({ code: error.grpcStatus, details: error.message, metadata });
      if (arriving) arriving.sendRefusal(send);
      else send();
    };
    const onReceiveMetadata = (metadata: Metadata, next: (metadata: Metadata) => void): void => {
      if (arriving) (metadata as TaggedMetadata)[arrivingCall] = arriving;
      const refusal = arriving?.begin(reject);
      if (refusal) reject(refusal);
      else next(metadata);
    };
    return new ServerInterceptingCall(call, {
      start: (next) => next({ onReceiveMetadata }),
      sendStatus(status, next) {
        const [code = ''] = status.metadata?.get(errorCodeMetadata) ?? [];
        if (arriving && refusalCodes.has(String(code))) arriving.sendRefusal(() => next(status));
        else next(status);
      },
    });
  };
}

/** Explains why a call on HTTP/2 failed, from what the server sent or did not send. */
import { type CallFailure, noConnection } from '../channel.ts';
import { type Status, status } from '../../errors.ts';

type Headers = Readonly<Record<string, string | string[] | number | undefined>>;

/** Builds the error of a call. @param headers what the server sent with its status */
export function callFailure(code: number, details: string, headers: Headers = {}): CallFailure {
  const get = (key: string): string[] => [headers[key] ?? []].flat().map(String);
  return Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: { get } });
}

/** The error of a request that was not sent, or that the server certainly did not execute. */
export const unsentFailure = (reason: string): CallFailure =>
  callFailure(status.UNAVAILABLE, `${noConnection}. Last error: ${reason}`);

const fromHttp: Readonly<Record<number, Status>> = {
  400: status.INTERNAL,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.UNIMPLEMENTED,
  429: status.UNAVAILABLE,
  502: status.UNAVAILABLE,
  503: status.UNAVAILABLE,
  504: status.UNAVAILABLE,
};

/** The codes of RST_STREAM (RFC 9113). */
const refusedStream = 7;
/** The server ended the connection because the client sends too much. */
const enhanceYourCalm = 11;
const fromReset: Readonly<Record<number, Status>> = {
  8: status.CANCELLED,
  [enhanceYourCalm]: status.RESOURCE_EXHAUSTED,
  12: status.PERMISSION_DENIED,
};

export interface StreamEnd {
  /** The headers of the response, and the trailers. Without messages there are only headers. */
  readonly response: Headers | undefined;
  readonly trailers: Headers | undefined;
  /** The code of RST_STREAM; 0 without one. */
  readonly resetCode: number;
  /** Whether the connection has ended. */
  readonly isConnectionLost: boolean;
  readonly error: Error | undefined;
}

/** Whether the server has certainly not executed the request. */
export const isRefused = ({ response, resetCode }: StreamEnd): boolean =>
  response === undefined && resetCode === refusedStream;

/** Returns the error of an ended call; undefined if the server returned OK. */
export function failureOf({
  response,
  trailers,
  resetCode,
  isConnectionLost,
  error,
}: StreamEnd): CallFailure | undefined {
  const sent = trailers?.['grpc-status'] === undefined ? response : trailers;
  if (sent?.['grpc-status'] !== undefined) {
    const code = Number(sent['grpc-status']);
    if (code === status.OK) return undefined;
    return callFailure(Number.isInteger(code) ? code : status.UNKNOWN, decodeDetails(sent['grpc-message']), sent);
  }
  const httpStatus = Number(response?.[':status'] ?? 200);
  if (httpStatus !== 200)
    return callFailure(fromHttp[httpStatus] ?? status.UNKNOWN, `Received HTTP status code ${httpStatus}`);
  if (resetCode === refusedStream) return unsentFailure('the server refused the request');
  const isUnexplained = isConnectionLost && resetCode !== enhanceYourCalm;
  const code = isUnexplained ? status.UNAVAILABLE : (fromReset[resetCode] ?? status.INTERNAL);
  return callFailure(
    code,
    error?.message ?? (isConnectionLost ? 'Connection dropped' : `the call was reset, code ${resetCode}`),
  );
}

/** Decodes the text of a status, which may have percent-encoded bytes. */
function decodeDetails(text: Headers[string]): string {
  const encoded = [text ?? ''].flat().join();
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** The gRPC status of a failed call, and the log of rejected calls. */
import { Metadata, type status } from '@grpc/grpc-js';
import { errorCodeMetadata, IpledgerError } from '../../errors.ts';
import type { Logger } from '../../process/log.ts';

/** A limit, because a status is sent in a header, and clients accept only some KiB of headers. */
const maxDetailsLength = 2_000;

export interface CallStatus extends Error {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** Converts an error of a handler, and logs what an operator must know. */
export function statusOf(path: string, thrown: unknown, log: Logger): CallStatus {
  const error = IpledgerError.from(thrown);
  if (error.kind === 'bug') log.error({ err: error, path }, 'a call failed');
  // Logs one line without a stack: while a ledger is frozen, every waiting Pod repeats this error.
  if (error.kind === 'damaged') log.error({ code: error.code, reason: error.message, path }, 'a call was rejected');
  const metadata = new Metadata();
  metadata.set(errorCodeMetadata, error.code);
  const details = statusDetails(error.message, maxDetailsLength);
  return Object.assign(new Error(details), { code: error.grpcStatus, details, metadata });
}

/**
 * Returns at most `max` characters of a message. Replaces half surrogate pairs, which a cut or a
 * request may leave: grpc-js throws on such a text while it sends the status, which would end the
 * program.
 */
export const statusDetails = (message: string, max: number): string =>
  (message.length > max ? `${message.slice(0, max)} … (shortened)` : message).toWellFormed();

/** The most rejections to log in an interval. The others are only counted. */
const logLimit = { max: 20, perMs: 60_000 };

export interface Rejection {
  readonly path: string;
  readonly peer: string;
  readonly reason: string;
}

export function createRejectionLogger(log: Logger): (rejection: Rejection) => void {
  let [since, count] = [-Infinity, 0];
  return (rejection) => {
    if (performance.now() - since > logLimit.perMs) {
      if (count > logLimit.max) log.warn({ suppressed: count - logLimit.max }, 'more calls were rejected than logged');
      [since, count] = [performance.now(), 0];
    }
    count += 1;
    if (count <= logLimit.max) log.warn(rejection, 'a call was rejected');
  };
}

/** Errors of HTTP requests: the status of each error code, and errors without a code. */
import type { ServerResponse } from 'node:http';
import { type ErrorCode, IpledgerError, type Status, status } from '../../../lib/errors.ts';
import type { ApiError } from '../api/page.ts';

/** A request that is rejected before any route handles it. */
export class HttpError extends IpledgerError {
  readonly status: number;

  constructor(httpStatus: number, code: ErrorCode, message: string) {
    super(code, message);
    this.status = httpStatus;
  }
}

const statuses: Readonly<Partial<Record<Status, number>>> = {
  [status.INVALID_ARGUMENT]: 400,
  [status.UNAUTHENTICATED]: 401,
  [status.PERMISSION_DENIED]: 403,
  [status.NOT_FOUND]: 404,
  [status.ALREADY_EXISTS]: 409,
  [status.FAILED_PRECONDITION]: 409,
  [status.DATA_LOSS]: 409,
  [status.OUT_OF_RANGE]: 410,
  [status.UNAVAILABLE]: 503,
  [status.DEADLINE_EXCEEDED]: 503,
  [status.CANCELLED]: 503,
};

/** The HTTP status of an error. */
export function statusOf(error: IpledgerError): number {
  if (error instanceof HttpError) return error.status;
  if (error.code === 'RATE_LIMITED') return 429;
  if (error.grpcStatus === status.RESOURCE_EXHAUSTED) return 409;
  return statuses[error.grpcStatus] ?? 500;
}

/** The body of an error. The text of a bug is in the log, and not in the reply. */
export const errorBody = (error: IpledgerError): ApiError =>
  error.code === 'BUG'
    ? { code: 'BUG', message: 'the console failed: its log has the reason' }
    : { code: error.code, message: error.message };

/** Returns the error of a method that the path does not have. */
export function methodNotAllowed(response: ServerResponse, allowed: string): HttpError {
  response.setHeader('Allow', allowed);
  return new HttpError(405, 'INVALID_REQUEST', `use ${allowed}`);
}

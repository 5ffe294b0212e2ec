/** The error of the OVSDB client. Its code shows whether the caller may repeat the request. */

/**
 * - NOT_CONNECTED: the request was not sent. It changed nothing; retry when the client is
 *   connected.
 * - OUTCOME_UNKNOWN: the request was sent, and no answer came. It may or may not have been
 *   executed, and may still be executed.
 * - FENCED: a `wait` operation did not find its rows in time. The transaction changed nothing.
 * - CONSTRAINT: the transaction violates a constraint or a reference of the schema. It changed
 *   nothing.
 * - REFUSED: the server answered with another error, in `serverError`. It changed nothing.
 * - INVALID_REQUEST: the request does not fit the schema or a limit. It was not sent.
 * - PROTOCOL: the server sent something that the client cannot accept. The client closes the
 *   connection.
 */
export type OvsdbErrorCode =
  'NOT_CONNECTED' | 'OUTCOME_UNKNOWN' | 'FENCED' | 'CONSTRAINT' | 'REFUSED' | 'INVALID_REQUEST' | 'PROTOCOL';

/** The `<error>` object of RFC 7047, section 3.1. */
export interface ServerError {
  /** The server's error, for example "constraint violation". */
  readonly error: string;
  readonly details: string;
  /** The index of the failed operation; undefined for the whole request or the commit. */
  readonly operation?: number | undefined;
}

export class OvsdbError extends Error {
  override readonly name = 'OvsdbError';
  readonly code: OvsdbErrorCode;
  readonly serverError: ServerError | undefined;

  constructor(
    code: OvsdbErrorCode,
    message: string,
    { serverError, ...options }: ErrorOptions & { readonly serverError?: ServerError } = {},
  ) {
    super(message, options);
    this.code = code;
    this.serverError = serverError;
  }
}

export const protocolError = (message: string): OvsdbError => new OvsdbError('PROTOCOL', message);
export const invalidRequest = (message: string): OvsdbError => new OvsdbError('INVALID_REQUEST', message);

/**
 * The error codes, and a table that maps each to its gRPC status, and to its HTTP status for the
 * CNI plugin.
 *
 * Most callers only need `kind`, which decides how they react:
 *   transient   the same request may succeed soon; retry with backoff
 *   invalid     the request can never succeed as it is; report it to its author
 *   conflict    it may succeed after another change; retry after that change
 *   exhausted   as conflict: no capacity is left now
 *   damaged     an operator must act; do not retry
 *   bug         an error in ipledger
 */
import { escapeUnprintableInLines } from './unprintable.ts';

export type ErrorKind = 'transient' | 'invalid' | 'conflict' | 'exhausted' | 'damaged' | 'bug';

/** The status codes of gRPC, declared here because the CLI and the agent run without grpc-js. */
export const status = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type Status = (typeof status)[keyof typeof status];

interface Meaning {
  readonly kind: ErrorKind;
  readonly grpc: Status;
  /** The HTTP status on the daemon socket. Kube-OVN uses only these two; both mean CNI code 11. */
  readonly http: 400 | 500;
}

const meanings = {
  INVALID_REQUEST: { kind: 'invalid', grpc: status.INVALID_ARGUMENT, http: 400 },
  ADDRESS_OUT_OF_RANGE: { kind: 'invalid', grpc: status.INVALID_ARGUMENT, http: 500 },
  ADDRESS_IN_USE: { kind: 'conflict', grpc: status.ALREADY_EXISTS, http: 500 },
  ADDRESS_QUARANTINED: { kind: 'conflict', grpc: status.ALREADY_EXISTS, http: 500 },
  ADDRESS_RESERVED: { kind: 'conflict', grpc: status.ALREADY_EXISTS, http: 500 },
  MAC_RESERVED: { kind: 'conflict', grpc: status.ALREADY_EXISTS, http: 500 },
  MAC_IN_USE: { kind: 'conflict', grpc: status.ALREADY_EXISTS, http: 500 },
  ADDRESS_ANSWERING: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  ADDRESS_UNKNOWN: { kind: 'invalid', grpc: status.NOT_FOUND, http: 500 },
  LEDGER_FROZEN: { kind: 'damaged', grpc: status.DATA_LOSS, http: 500 },
  LEDGER_NOT_FROZEN: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  ADDRESS_FENCED: { kind: 'damaged', grpc: status.DATA_LOSS, http: 500 },
  SUBNET_UNKNOWN: { kind: 'conflict', grpc: status.NOT_FOUND, http: 500 },
  SUBNET_INVALID: { kind: 'invalid', grpc: status.INVALID_ARGUMENT, http: 500 },
  SUBNET_FULL: { kind: 'exhausted', grpc: status.RESOURCE_EXHAUSTED, http: 500 },
  NAMESPACE_QUOTA_EXCEEDED: { kind: 'exhausted', grpc: status.RESOURCE_EXHAUSTED, http: 500 },
  QUARANTINE_LIMIT: { kind: 'exhausted', grpc: status.RESOURCE_EXHAUSTED, http: 500 },
  NAMESPACE_NOT_ALLOWED: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  SUBNET_IN_USE: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  SUBNET_OVERLAP: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  POD_SUPERSEDED: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  POOL_UNKNOWN: { kind: 'conflict', grpc: status.NOT_FOUND, http: 500 },
  POOL_INVALID: { kind: 'invalid', grpc: status.INVALID_ARGUMENT, http: 500 },
  POOL_CONFLICT: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  IP_FAMILY_INVALID: { kind: 'invalid', grpc: status.INVALID_ARGUMENT, http: 500 },
  RESERVATION_UNKNOWN: { kind: 'conflict', grpc: status.NOT_FOUND, http: 500 },
  SEGMENT_SEALED: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  PROVIDER_UNBOUND: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 400 },
  NOT_ALLOCATED: { kind: 'conflict', grpc: status.NOT_FOUND, http: 500 },
  NOT_REQUESTED: { kind: 'conflict', grpc: status.NOT_FOUND, http: 500 },
  ROUTE_INVALID: { kind: 'invalid', grpc: status.INVALID_ARGUMENT, http: 500 },
  CHECK_FAILED: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  SANDBOX_FAILED: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  DATA_PATH_FAILED: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  DEADLINE_PASSED: { kind: 'transient', grpc: status.DEADLINE_EXCEEDED, http: 500 },
  REQUEST_OUTDATED: { kind: 'transient', grpc: status.FAILED_PRECONDITION, http: 500 },
  POSITION_GONE: { kind: 'invalid', grpc: status.OUT_OF_RANGE, http: 500 },
  NO_CHECKPOINT_KEY: { kind: 'conflict', grpc: status.FAILED_PRECONDITION, http: 500 },
  NOT_WRITER: { kind: 'transient', grpc: status.UNAVAILABLE, http: 500 },
  LEDGER_NOT_WRITABLE: { kind: 'transient', grpc: status.UNAVAILABLE, http: 500 },
  UNAVAILABLE: { kind: 'transient', grpc: status.UNAVAILABLE, http: 500 },
  RATE_LIMITED: { kind: 'transient', grpc: status.RESOURCE_EXHAUSTED, http: 500 },
  OVERLOADED: { kind: 'transient', grpc: status.UNAVAILABLE, http: 500 },
  CANCELLED: { kind: 'transient', grpc: status.CANCELLED, http: 500 },
  LEDGER_DAMAGED: { kind: 'damaged', grpc: status.DATA_LOSS, http: 500 },
  UNAUTHENTICATED: { kind: 'invalid', grpc: status.UNAUTHENTICATED, http: 500 },
  PERMISSION_DENIED: { kind: 'invalid', grpc: status.PERMISSION_DENIED, http: 500 },
  NOT_IMPLEMENTED: { kind: 'invalid', grpc: status.UNIMPLEMENTED, http: 500 },
  BUG: { kind: 'bug', grpc: status.INTERNAL, http: 500 },
} as const satisfies Record<string, Meaning>;

export type ErrorCode = keyof typeof meanings;

export const errorCodes = Object.keys(meanings) as readonly ErrorCode[];

/** The metadata key that carries the ErrorCode of a gRPC status. */
export const errorCodeMetadata = 'ipledger-code';

/** An error with a code, and an escaped message: what failed, why, and what to do. */
export class IpledgerError extends Error {
  override readonly name = 'IpledgerError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(escapeUnprintableInLines(message), options);
    this.code = code;
  }

  get kind(): ErrorKind {
    return meanings[this.code].kind;
  }

  get grpcStatus(): Status {
    return meanings[this.code].grpc;
  }

  get httpStatus(): 400 | 500 {
    return meanings[this.code].http;
  }

  /** Converts any thrown value. A gRPC error keeps the code that the server sent. */
  static from(thrown: unknown): IpledgerError {
    if (thrown instanceof IpledgerError) return thrown;
    if (isServiceError(thrown)) {
      const sent = thrown.metadata?.get(errorCodeMetadata)[0]?.toString() ?? '';
      return new IpledgerError(isErrorCode(sent) ? sent : codeOfStatus(thrown.code), thrown.details || thrown.message, {
        cause: thrown,
      });
    }
    if (thrown instanceof Error && thrown.name === 'AbortError')
      return new IpledgerError('CANCELLED', 'cancelled by the caller', { cause: thrown });
    if (thrown instanceof Error && thrown.name === 'TimeoutError')
      return new IpledgerError('DEADLINE_PASSED', 'the deadline has passed', { cause: thrown });
    return new IpledgerError('BUG', errorMessage(thrown), { cause: thrown });
  }
}

interface SentStatus {
  readonly code: number;
  readonly details: string;
  readonly message: string;
  readonly metadata?: { get(key: string): (string | Buffer)[] };
}

function isServiceError(thrown: unknown): thrown is SentStatus {
  return thrown instanceof Error && 'details' in thrown && 'code' in thrown && typeof thrown.code === 'number';
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // If all addresses of a host refuse the connection, only the causes have a message.
  return error.message === '' && error instanceof AggregateError
    ? error.errors.map(errorMessage).join(', ')
    : error.message;
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(meanings, text);
}

/** Whether a position is not in the ledger, or only in an archive that is not available. */
export const isPositionGone = (thrown: unknown): thrown is IpledgerError =>
  thrown instanceof IpledgerError && thrown.code === 'POSITION_GONE';

/** Resolves to undefined if `reading` fails with POSITION_GONE. @throws any other error */
export async function undefinedIfGone<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isPositionGone(error)) return undefined;
    throw error;
  }
}

/** The code for a status that grpc-js created itself, on the client or the server. */
function codeOfStatus(code: number): ErrorCode {
  switch (code) {
    case status.UNAVAILABLE:
      return 'UNAVAILABLE';
    case status.DEADLINE_EXCEEDED:
      return 'DEADLINE_PASSED';
    case status.CANCELLED:
      return 'CANCELLED';
    case status.UNIMPLEMENTED:
      return 'NOT_IMPLEMENTED';
    case status.INVALID_ARGUMENT:
      return 'INVALID_REQUEST';
    case status.RESOURCE_EXHAUSTED:
      return 'OVERLOADED';
    case status.PERMISSION_DENIED:
      return 'PERMISSION_DENIED';
    case status.UNAUTHENTICATED:
      return 'UNAUTHENTICATED';
    default:
      return 'BUG';
  }
}

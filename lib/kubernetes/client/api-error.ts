/** Errors of requests to the Kubernetes API, and how a client reacts to them. */
import { asNumber, asRecord, asText } from '../untyped-json.ts';

/**
 * How a client reacts to an error:
 *   absent   the object does not exist (404), or its history is no longer available (410)
 *   changed  the object is not the one, or not the version, that the request assumed (409): read it again
 *   invalid  the request can never succeed as it is (400, 422 and the like)
 *   denied   credentials or RBAC reject it (401, 403): an operator must act; retry slowly
 *   later    overload, server error or no response: the same request may succeed soon
 */
export type Reaction = 'absent' | 'changed' | 'invalid' | 'denied' | 'later';

/** A response with a status other than 2xx, or no response (status 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** The reason without the request, such as "403 pods is forbidden". */
  readonly reason: string;
  /** The field that the API server rejects, such as "metadata.uid"; "" if it names none. */
  readonly field: string;

  /** @param options `request`, such as "GET /api/v1/pods", precedes the reason in the message */
  constructor(
    status: number,
    reason: string,
    options: ErrorOptions & { readonly request?: string; readonly field?: string } = {},
  ) {
    super(options.request === undefined ? reason : `${options.request}: ${reason}`, options);
    this.status = status;
    this.reason = reason;
    this.field = options.field ?? '';
  }

  /** Whether the response exceeded the size limit. A smaller page of the same list may fit. */
  get isTooLarge(): boolean {
    return this.cause instanceof ResponseTooLarge;
  }

  get reaction(): Reaction {
    // A patch with a uid is for one object only. If another object now has the name, the API server
    // rejects the patch as a change of an immutable field.
    return this.status === 422 && this.field === 'metadata.uid' ? 'changed' : reactionTo(this.status);
  }
}

/** The error for a response that exceeds the size limit. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge';

  constructor(maxBytes: number) {
    super(`the response is larger than ${maxBytes} bytes`);
  }
}

function reactionTo(status: number): Reaction {
  if (status === 404 || status === 410) return 'absent';
  if (status === 409) return 'changed';
  if (status === 401 || status === 403) return 'denied';
  if (status === 0 || status === 408 || status === 429 || status >= 500) return 'later';
  return 'invalid';
}

/** The error in an ERROR event of a watch. */
export function watchErrorOf(object: unknown, path: string): ApiError {
  const { code, message } = asRecord(object);
  return new ApiError(asNumber(code) ?? 500, asText(message), { request: `watch of ${path}` });
}

/** Resolves like `read`, but to undefined if the object or its resource does not exist. */
export async function ifPresent<Value>(read: Promise<Value>): Promise<Value | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

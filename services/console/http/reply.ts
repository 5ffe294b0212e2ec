/** Writes replies: the headers that each one has, JSON, CSV and errors. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { IpledgerError } from '../../../lib/errors.ts';
import { escapeUnprintable } from '../../../lib/unprintable.ts';
import { formatCsv } from './csv.ts';
import { errorBody, statusOf } from './http-error.ts';

const compress = promisify(gzip);
/** Smaller replies fit into a few packets. */
const minCompressedBytes = 2_048;

/** Only the files of the console run, and no page frames it. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

export function setCommonHeaders(response: ServerResponse, isSecure: boolean): void {
  response.setHeader('Content-Security-Policy', contentSecurityPolicy);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  response.setHeader('Permissions-Policy', 'camera=(), geolocation=(), microphone=()');
  response.setHeader('Cache-Control', 'no-store');
  if (isSecure) response.setHeader('Strict-Transport-Security', 'max-age=31536000');
}

export interface Reply {
  readonly status?: number;
  readonly body: object;
  /** For CSV; absent: the `items` of the body, or the body as one row. */
  readonly rows?: () => Iterable<object>;
  /** A reply that never changes may be kept by the browser. */
  readonly isImmutable?: boolean;
}

const immutable = 'private, max-age=3600, immutable';

/** @param format "json" or "csv" */
export async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  { status = 200, body, rows, isImmutable = false }: Reply,
  format: string,
): Promise<void> {
  if (isImmutable) response.setHeader('Cache-Control', immutable);
  if (format === 'csv') {
    response.setHeader('Content-Disposition', 'attachment; filename="ipledger.csv"');
    await sendBytes(request, response, {
      status,
      type: 'text/csv; charset=utf-8',
      text: formatCsv((rows ?? rowsOf(body))()),
    });
    return;
  }
  await sendBytes(request, response, { status, type: 'application/json; charset=utf-8', text: toJson(body) });
}

/**
 * Shows characters of texts that would change how they are shown: those of tenants are among them.
 */
export const toJson = (body: object): string => JSON.stringify(body, escapeText);

const escapeText = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? escapeUnprintable(value) : value;

const rowsOf = (body: object) => (): Iterable<object> =>
  'items' in body && Array.isArray(body.items) ? (body.items as object[]) : [body];

interface Content {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

async function sendBytes(request: IncomingMessage, response: ServerResponse, content: Content): Promise<void> {
  const { status, type, text } = content;
  let bytes = Buffer.from(text);
  response.setHeader('Content-Type', type);
  response.setHeader('Vary', 'Accept-Encoding, Cookie');
  if (bytes.length >= minCompressedBytes && /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '')) {
    bytes = await compress(bytes, { level: constants.Z_BEST_SPEED });
    response.setHeader('Content-Encoding', 'gzip');
  }
  response.writeHead(status, { 'Content-Length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Sends an error, unless a reply has begun. */
export function sendError(response: ServerResponse, thrown: unknown): void {
  const error = IpledgerError.from(thrown);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const code = statusOf(error);
  if (code === 429 || code === 503) response.setHeader('Retry-After', '2');
  // A request that was not read completely must not be followed by another one
  if (code === 413 || code === 408) response.setHeader('Connection', 'close');
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.writeHead(code);
  response.end(toJson(errorBody(error)));
}

/** Writes replies: the headers that each one has, JSON, CSV and errors. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, createGzip, gzip } from 'node:zlib';
import { IpledgerError } from '../../../lib/errors.ts';
import { escapeUnprintable } from '../../../lib/unprintable.ts';
import { csvPieces, type CsvTable, tableOf } from './csv.ts';
import { errorBody, statusOf } from './http-error.ts';

const compress = promisify(gzip);
/** The size from which replies are compressed. Smaller replies fit into a few packets. */
const minCompressedBytes = 2_048;
/** The bytes of CSV between the rows and the network at a time. */
const csvBufferBytes = 262_144;

/** Allows only the files of the console to run, and no page to frame it. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
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
  /** The rows for CSV; absent: the `items` of the body, or the body as one row. */
  readonly table?: CsvTable;
  /** The bytes that the rows of the table hold until they are sent. */
  readonly tableBytes?: number;
}

/** Counts the bytes of a reply until it is sent. @throws IpledgerError OVERLOADED */
type CountUnsent = (bytes: number) => void;

export interface Sending {
  readonly format: 'json' | 'csv';
  readonly countUnsent: CountUnsent;
}

const asJson: Sending = { format: 'json', countUnsent: () => undefined };

export async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  { format, countUnsent }: Sending = asJson,
): Promise<void> {
  response.setHeader('Vary', 'Accept-Encoding, Cookie');
  if (format === 'csv') await sendCsv(request, response, reply, countUnsent);
  else await sendJson(request, response, reply, countUnsent);
}

/** Formats JSON, and escapes characters that change how a text is shown: tenants write texts. */
export const toJson = (body: object): string => JSON.stringify(body, escapeText);

const escapeText = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? escapeUnprintable(value) : value;

const rowsOf = (body: object): readonly object[] =>
  'items' in body && Array.isArray(body.items) ? (body.items as object[]) : [body];

const acceptsGzip = ({ headers }: IncomingMessage): boolean =>
  /\bgzip\b/.test(headers['accept-encoding']?.toString() ?? '');

async function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  { status = 200, body }: Reply,
  countUnsent: CountUnsent,
): Promise<void> {
  const text = Buffer.from(toJson(body));
  const isCompressed = text.length >= minCompressedBytes && acceptsGzip(request);
  const bytes = isCompressed ? await compress(text, { level: constants.Z_BEST_SPEED }) : text;
  countUnsent(bytes.length);
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.writeHead(status, { 'Content-Length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Sends the rows in pieces, each when the browser has read the piece before. */
async function sendCsv(
  request: IncomingMessage,
  response: ServerResponse,
  { status = 200, body, table = tableOf(rowsOf(body)), tableBytes = 0 }: Reply,
  countUnsent: CountUnsent,
): Promise<void> {
  countUnsent(csvBufferBytes + tableBytes);
  const isCompressed = acceptsGzip(request);
  response.setHeader('Content-Type', 'text/csv; charset=utf-8');
  response.setHeader('Content-Disposition', 'attachment; filename="ipledger.csv"');
  if (isCompressed) response.setHeader('Content-Encoding', 'gzip');
  response.writeHead(status);
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  const pieces = Readable.from(eachInItsTurn(csvPieces(table)));
  const compressing = isCompressed ? [createGzip({ level: constants.Z_BEST_SPEED })] : [];
  try {
    await pipeline([pieces, ...compressing, response]);
  } catch (error) {
    if (!response.destroyed) throw error; // the browser has gone
  }
}

async function* eachInItsTurn(pieces: Iterable<string>): AsyncGenerator<string> {
  for (const piece of pieces) {
    await setImmediate();
    yield piece;
  }
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
  // Another request must not follow on the connection, because this one was not read completely
  if (code === 413 || code === 408) response.setHeader('Connection', 'close');
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.writeHead(code);
  response.end(toJson(errorBody(error)));
}

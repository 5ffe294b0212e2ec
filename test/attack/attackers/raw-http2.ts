/** HTTP/2 below gRPC, for clients that do not keep to its rules. */
import { readFileSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import type { TlsFiles } from '../../../lib/tls/certificates.ts';
import { tlsServerName } from '../../../lib/grpc/channel.ts';

/** Opens a session over TLS. Without `tls`, it shows no certificate and accepts each server. */
export function openSession(endpoint: string, tls?: TlsFiles): ClientHttp2Session {
  const files = tls && { ca: readFileSync(tls.ca), cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
  const session = connect(`https://${endpoint}`, {
    ...files,
    servername: tlsServerName,
    rejectUnauthorized: false,
    maxSessionMemory: 1_000,
  });
  session.on('error', () => undefined);
  return session;
}

/** Starts a gRPC call, and sends no message yet. */
export function startCall(
  session: ClientHttp2Session,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): ClientHttp2Stream {
  const stream = session.request(
    { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers },
    { endStream: false },
  );
  stream.on('error', () => undefined);
  stream.on('data', () => undefined);
  return stream;
}

/** Formats a gRPC frame: whether its message is compressed, the length, and the message. */
export function frame(message: Buffer, { compressed = false, length = message.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed ? 1 : 0, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, message]);
}

/** Resolves when the stream or its session has ended. */
export const ended = (stream: ClientHttp2Stream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.closed || stream.destroyed) return resolve();
    stream.once('close', () => resolve());
  });

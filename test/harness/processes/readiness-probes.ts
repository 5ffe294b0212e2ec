/** Readiness probes. Each resolves if the server is ready, and throws the reason if it is not. */
import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { Client } from '@grpc/grpc-js';
import { service as health } from 'grpc-health-check';
import { clientCredentials, loadTls, type ServerKind, type TlsFiles } from '../../../lib/tls/credentials.ts';

export interface ClientCertificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * Probes that GET answers 200. For https: a client certificate (PEM texts), or "unverified" for a
 * self-signed server certificate.
 */
export async function probeHttp(
  url: string,
  signal: AbortSignal,
  tls: ClientCertificate | 'unverified' = 'unverified',
): Promise<void> {
  const trust = tls === 'unverified' ? { rejectUnauthorized: false } : tls;
  const status = url.startsWith('https:')
    ? await statusOf(signal, (answer) => httpsRequest(url, { ...trust, agent: false, signal }, answer))
    : await statusOf(signal, (answer) => httpRequest(url, { agent: false, signal }, answer));
  if (status !== 200) throw new Error(`GET ${url}: ${status}`);
}

/** Probes that a server answers HTTP on the unix socket, with any status. */
export async function probeSocket(socketPath: string, signal: AbortSignal): Promise<void> {
  const options: RequestOptions = { socketPath, path: '/', agent: false, signal };
  await statusOf(signal, (answer) => httpRequest(options, answer));
}

/** Probes that gRPC health reports SERVING for the server, or for one of its services. */
export function probeGrpcHealth(
  endpoint: string,
  tls: TlsFiles | undefined,
  signal: AbortSignal,
  { service = '', server = 'allocator' }: { readonly service?: string; readonly server?: ServerKind } = {},
): Promise<void> {
  const check = health['Check'];
  if (!check || !('path' in check)) throw new TypeError('grpc-health-check has no Check');
  const credentials = clientCredentials(tls && loadTls(tls), server);
  const client = new Client(endpoint, credentials, { 'grpc.ssl_target_name_override': 'allocator' });
  return new Promise<void>((resolve, reject) => {
    const sent = client.makeUnaryRequest<object, { status?: string }>(
      check.path,
      check.requestSerialize,
      check.responseDeserialize as (bytes: Buffer) => { status?: string },
      { service },
      (error, reply) => {
        if (error) reject(error);
        else if (reply?.status !== 'SERVING')
          reject(new Error(`health at ${endpoint}: ${reply?.status ?? 'no status'}`));
        else resolve();
      },
    );
    signal.addEventListener('abort', () => sent.cancel(), { once: true });
  }).finally(() => client.close());
}

function statusOf(
  signal: AbortSignal,
  send: (answer: (response: IncomingMessage) => void) => ClientRequest,
): Promise<number> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const sent = send((response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject).end();
  });
}

/** Whether a process listens on a unix socket. The file of a dead socket has no listener. */
export function isListenedOn(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const answer = (listened: boolean): void => {
      socket.destroy();
      resolve(listened);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}

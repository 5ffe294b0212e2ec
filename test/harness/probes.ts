/** How a started server shows that it serves. Each resolves when it does, and throws, saying what it saw, when not. */
import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { Client } from '@grpc/grpc-js';
import { service as health } from 'grpc-health-check';
import { clientCredentials, openTls, type ServerKind, type TlsFiles } from '../../lib/tls.ts';

export interface ClientCertificate {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** GET answers 200. https: with a client certificate (PEM texts), or "unverified" for a server with one it made itself. */
export async function httpOk(
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

/** A unix socket on which somebody answers HTTP, whatever the answer. */
export async function socketAnswers(socketPath: string, signal: AbortSignal): Promise<void> {
  const options: RequestOptions = { socketPath, path: '/', agent: false, signal };
  await statusOf(signal, (answer) => httpRequest(options, answer));
}

/** The gRPC health service says SERVING for the server as a whole, or for one of its services. */
export function grpcServing(
  endpoint: string,
  tls: TlsFiles | undefined,
  signal: AbortSignal,
  { service = '', server = 'allocator' }: { readonly service?: string; readonly server?: ServerKind } = {},
): Promise<void> {
  const check = health['Check'];
  if (!check || !('path' in check)) throw new TypeError('grpc-health-check has no Check');
  const credentials = clientCredentials(tls && openTls(tls), server);
  const client = new Client(endpoint, credentials, { 'grpc.ssl_target_name_override': 'allocator' });
  return new Promise<void>((resolve, reject) => {
    const sent = client.makeUnaryRequest<object, { status?: string }>(
      check.path,
      check.requestSerialize,
      check.responseDeserialize as (bytes: Buffer) => { status?: string },
      { service },
      (error, reply) => {
        if (error) reject(error);
        else if (reply?.status !== 'SERVING') reject(new Error(`health at ${endpoint}: ${reply?.status ?? 'nothing'}`));
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

/** Whether somebody accepts connections on a unix socket; a file that nobody listens on any more does not. */
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

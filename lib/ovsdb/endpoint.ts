/** The addresses of OVSDB servers, and sockets to them. */
import { isIP, type Socket, connect as connectSocket } from 'node:net';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import { readCertificates, type TlsFiles } from '../tls/certificates.ts';
import { OvsdbError } from './ovsdb-error.ts';

/** Certificates for `ssl:` endpoints. Each connection reads the files again. */
export interface OvsdbTls extends TlsFiles {
  /**
   * The name that the server's certificate must have. Default: any certificate of the authority is
   * accepted, as the programs of OVS and OVN do. Set it if the authority also issues certificates
   * to other programs.
   */
  readonly serverName?: string;
}

export type Endpoint =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp' | 'ssl'; readonly host: string; readonly port: number };

/**
 * Parses `unix:/path`, `tcp:host:port` or `ssl:host:port`. An IPv6 address is in brackets.
 * @throws Error with the invalid text
 */
export function parseEndpoint(text: string): Endpoint {
  const path = /^unix:(.+)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: 'unix', path };
  const [, kind, bracketed, plain, digits] = /^(tcp|ssl):(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if ((kind !== 'tcp' && kind !== 'ssl') || host === undefined || port < 1 || port > 65_535)
    throw new Error(`${text} is no OVSDB endpoint: use unix:/path, tcp:host:port or ssl:host:port`);
  return { kind, host, port };
}

/**
 * Connects to an endpoint.
 * @param signal ends the attempt; it has no effect on a connected socket
 * @throws OvsdbError NOT_CONNECTED with the reason
 */
export async function openSocket(text: string, tls: OvsdbTls | undefined, signal: AbortSignal): Promise<Socket> {
  let socket: Socket | undefined;
  try {
    const endpoint = parseEndpoint(text);
    socket = createSocket(endpoint, tls);
    await connected(socket, endpoint.kind === 'ssl' ? 'secureConnect' : 'connect', signal);
    return socket;
  } catch (error) {
    socket?.destroy();
    const reason = error instanceof Error ? error.message : String(error);
    throw new OvsdbError('NOT_CONNECTED', `cannot connect to ${text}: ${reason}`, { cause: error });
  }
}

function createSocket(endpoint: Endpoint, tls: OvsdbTls | undefined): Socket {
  if (endpoint.kind === 'unix') return connectSocket({ path: endpoint.path });
  const { host, port } = endpoint;
  if (endpoint.kind === 'tcp') return connectSocket({ host, port, noDelay: true });
  if (!tls) throw new Error('ssl: needs certificate files');
  const { serverName } = tls;
  const socket = connectTls({
    host,
    port,
    ...readCertificates(tls),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true, // even if the environment disables verification
    ...(isIP(serverName ?? host) === 0 && { servername: serverName ?? host }),
    checkServerIdentity: (_host, certificate) =>
      serverName === undefined ? undefined : checkServerIdentity(serverName, certificate),
  });
  socket.setNoDelay(true);
  return socket;
}

function connected(socket: Socket, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (settled: () => void): void => {
      signal.removeEventListener('abort', abort);
      socket.off(event, open).off('error', fail).off('close', close);
      // Keeps a listener, because an error without one would end the process.
      socket.on('error', () => undefined);
      settled();
    };
    const open = (): void => settle(resolve);
    const fail = (error: Error): void => settle(() => reject(error));
    const close = (): void => settle(() => reject(new Error('the server closed the connection')));
    const abort = (): void => settle(() => reject(signal.reason as Error));
    socket.once(event, open).once('error', fail).once('close', close);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

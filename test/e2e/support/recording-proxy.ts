/**
 * A proxy between a client and a server with mutual TLS, which has the keys of both. It records with which certificate the client
 * opens its connections.
 */
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { TlsFiles } from '../../../lib/tls/certificates.ts';
import type { Run } from '../../harness/run.ts';

export interface RecordingProxy {
  /** "127.0.0.1:<port>" */
  readonly endpoint: string;
  /** The serial number of the client's certificate on each connection, in their order. */
  readonly clientSerials: readonly string[];
  /** Closes all connections, and reads the files of the server again. */
  cut(): void;
}

export interface RecordingProxyOptions {
  /** "host:port" */
  readonly target: string;
  readonly server: TlsFiles;
  readonly client: TlsFiles;
}

const ALPNProtocols = ['h2'];

const pemsOf = ({ ca, cert, key }: TlsFiles) => ({
  ca: readFileSync(ca),
  cert: readFileSync(cert),
  key: readFileSync(key),
});

/** Starts a proxy that ends with the run. */
export async function startRecordingProxy(run: Run, options: RecordingProxyOptions): Promise<RecordingProxy> {
  const clientSerials: string[] = [];
  const sockets = new Set<TLSSocket>();
  const [host = '', port = ''] = options.target.split(':');
  const accepting = { ...pemsOf(options.server), ALPNProtocols, requestCert: true, rejectUnauthorized: true };
  const server = createServer(accepting, (client) => {
    clientSerials.push(client.getPeerCertificate().serialNumber);
    // The proxy trusts its target: it is the server of the test.
    const trust = { checkServerIdentity: () => undefined, rejectUnauthorized: false };
    const upstream = connect({ host, port: Number(port), ...pemsOf(options.client), ALPNProtocols, ...trust });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const closeAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  run.onEnd(() => {
    closeAll();
    server.close();
  });
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    clientSerials,
    cut() {
      server.setSecureContext(pemsOf(options.server));
      closeAll();
    },
  };
}

/** TCP proxy whose target changes from case to case, for clients that live longer than a case. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Run } from '../../harness/run.ts';

export interface SwitchingProxy {
  /** "127.0.0.1:<port>" */
  readonly endpoint: string;
  /** Sends new connections to "host:port"; ends the existing ones. */
  setTarget(target: string): void;
}

/** Starts a proxy that ends with the run. */
export async function startSwitchingProxy(run: Run): Promise<SwitchingProxy> {
  const sockets = new Set<Socket>();
  let target: string | undefined;
  const endConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((client) => {
    const [host = '', port = ''] = (target ?? '').split(':');
    if (target === undefined) return client.destroy();
    const upstream = connect(Number(port), host);
    for (const [from, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => other.destroy());
      from.on('close', () => {
        sockets.delete(from);
        other.destroy();
      });
      from.pipe(other);
    }
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  run.onEnd(() => {
    endConnections();
    server.close();
  });
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    setTarget(next) {
      target = next;
      endConnections();
    },
  };
}

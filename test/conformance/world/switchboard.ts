/** One endpoint behind which there is another server from case to case, for clients that outlive them. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Run } from '../../harness/run.ts';

export interface Switchboard {
  /** "127.0.0.1:<port>" */
  readonly endpoint: string;
  /** New connections go to "host:port"; those that there are end. */
  to(target: string): void;
}

/** It ends with the run. */
export async function startSwitchboard(run: Run): Promise<Switchboard> {
  const sockets = new Set<Socket>();
  let target: string | undefined;
  const end = (): void => {
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
    end();
    server.close();
  });
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    to(next) {
      target = next;
      end();
    },
  };
}

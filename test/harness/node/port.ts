/**
 * The machine's loopback as a node sees it: a port at which the machine serves something is served on the node's own
 * loopback, too. So the node reaches the Kubernetes API and the allocator where everybody does, and neither the machine's
 * network nor the servers know of it. A socket stays in the network namespace in which it was opened: a process opens it
 * there and hands it to us.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Namespace } from '../network.ts';

const listener = join(import.meta.dirname, 'port-listener.ts');

export interface Port {
  /** Nobody reaches it any more, and whoever had is cut off. */
  close(): void;
}

/** Serves a port of the machine's loopback on a node's. @throws Error when the node has something at that port */
export async function openPort(node: Namespace, port: number): Promise<Port> {
  const server = await listenIn(node, port);
  const open = new Set<Socket>();
  server.on('connection', (inner: Socket) => {
    const outer = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      open.add(one);
      one.setNoDelay(true).unref();
      one.on('error', () => undefined); // its end says enough
      one.once('close', () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  server.unref();
  return {
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function listenIn(node: Namespace, port: number): Promise<Server> {
  const child: ChildProcess = fork(listener, [String(port)], {
    execPath: 'nsenter',
    execArgv: [`--net=${node.path}`, process.execPath],
  });
  const ended = once(child, 'exit').then(([code]: unknown[]) => {
    throw new Error(`port ${port} could not be opened in ${node.name}: its listener ended with ${String(code)}`);
  });
  const [, server] = (await Promise.race([once(child, 'message'), ended])) as [string, Server];
  ended.catch(() => undefined);
  child.disconnect();
  return server;
}

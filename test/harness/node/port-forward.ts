/**
 * Forwards a port of a node to the same port of the machine's loopback. So the node reaches the Kubernetes API and
 * the allocator at their usual endpoints, without changes to the machine's network. A socket stays in the network namespace in
 * which it was opened: a child process opens it there and sends it to this process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Namespace } from '../network/network-namespaces.ts';

const listener = join(import.meta.dirname, 'port-forward-listener.ts');

export interface PortForward {
  /** Closes the port and all its connections. */
  close(): void;
}

/** Opens the port at an address of the node (default: its loopback). @throws Error if the port is in use there */
export async function forwardPort(node: Namespace, port: number, address = '127.0.0.1'): Promise<PortForward> {
  const server = await listenIn(node, port, address);
  const open = new Set<Socket>();
  server.on('connection', (inner: Socket) => {
    const outer = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      open.add(one);
      one.setNoDelay(true).unref();
      one.on('error', () => undefined); // the close event follows
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

async function listenIn(node: Namespace, port: number, address: string): Promise<Server> {
  const child: ChildProcess = fork(listener, [String(port), address], {
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

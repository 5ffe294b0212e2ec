/**
 * Forwards a port of a node to a server of the machine, so that the node reaches the Kubernetes API
 * and the allocator at their usual endpoints, without changes to the machine's network. A socket
 * stays in the network namespace in which it was opened: a child process opens it there and sends
 * it to this process.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:net';
import { join } from 'node:path';
import type { Namespace } from '../network/network-namespaces.ts';
import { proxyConnections, type TcpProxy } from '../network/tcp-proxy.ts';

const listener = join(import.meta.dirname, 'port-forward-listener.ts');

export interface PortForwardOptions {
  /** An address of the node (default: its loopback). */
  readonly address?: string;
  /** The target; default: the same port of the machine's loopback. */
  readonly target?: string;
}

/** Opens the port until the proxy is closed. @throws Error if the port is in use there */
export async function forwardPort(
  node: Namespace,
  port: number,
  { address = '127.0.0.1', target = `127.0.0.1:${port}` }: PortForwardOptions = {},
): Promise<Pick<TcpProxy, 'close'>> {
  const server = await listenIn(node, port, address);
  return proxyConnections(server.unref(), target);
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

/**
 * Forwards a port of the machine's loopback to the same port of a namespace's loopback: the
 * opposite of port-forward.ts. So a test calls a server in a namespace at its usual endpoint.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Namespace } from '../network/network-namespaces.ts';
import type { Run } from '../run.ts';

const relay = join(import.meta.dirname, 'port-exposure-relay.ts');

/** Opens the port until the run ends. @throws Error if the port is in use on the machine */
export async function exposePort(run: Run, node: Namespace, port: number): Promise<void> {
  const server = createServer();
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const child = fork(relay, [String(port)], {
    execPath: 'nsenter',
    execArgv: [`--net=${node.path}`, process.execPath],
  });
  run.onEnd(() => {
    if (child.connected) child.disconnect();
  });
  child.send('listen', server);
  // The child accepts connections, and this process does not
  server.close();
  child.unref();
  child.channel?.unref();
}

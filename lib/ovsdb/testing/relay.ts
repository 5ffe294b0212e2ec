/** Relays TCP connections to a unix socket, and can change what clients send. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { Run } from '../../../test/harness/run.ts';

/**
 * Returns the endpoint of the relay. It ends with the run.
 * @param change receives each piece that a client sends, and returns what the server receives
 */
export async function startRelay(run: Run, server: string, change: (text: string) => string): Promise<string> {
  const relay = createServer((client) => {
    const upstream = connect(server.replace(/^unix:/, ''));
    client.on('data', (chunk) => upstream.write(change(chunk.toString('utf8'))));
    upstream.pipe(client);
    const end = (): void => void (client.destroy(), upstream.destroy());
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    run.signal.addEventListener('abort', end);
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  run.signal.addEventListener('abort', () => relay.close());
  return `tcp:127.0.0.1:${(relay.address() as AddressInfo).port}`;
}

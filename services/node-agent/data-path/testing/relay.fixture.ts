/**
 * Relays TCP connections in its own network namespace to unix sockets, which all namespaces share.
 *   node relay.fixture.ts READY-FILE PORT=SOCKET…
 */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';

const [readyFile = '', ...pairs] = process.argv.slice(2);
for (const pair of pairs) {
  const [port, path = ''] = pair.split('=');
  const server = createServer((client) => {
    const upstream = connect(path);
    client.pipe(upstream).pipe(client);
    const end = (): void => void (client.destroy(), upstream.destroy());
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
  });
  server.listen(Number(port), '127.0.0.1');
  await once(server, 'listening');
}
writeFileSync(readyFile, '');

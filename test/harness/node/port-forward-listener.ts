/** Opens a port in its network namespace, and sends the socket to the parent process. */
import { createServer } from 'node:net';

const server = createServer();
const [port, host] = process.argv.slice(2);
server.listen({ host, port: Number(port) }, () => process.send?.('listening', server));
process.once('disconnect', () => process.exit());

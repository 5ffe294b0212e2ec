/** Opens a port of the loopback that it finds itself on, and hands it to its parent. */
import { createServer } from 'node:net';

const server = createServer();
server.listen({ host: '127.0.0.1', port: Number(process.argv[2]) }, () => process.send?.('listening', server));
process.once('disconnect', () => process.exit());

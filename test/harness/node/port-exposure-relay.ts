/**
 * Accepts connections at a socket of its parent process, and forwards them to a port of its own
 * network namespace.
 */
import type { Server } from 'node:net';
import { proxyConnections } from '../network/tcp-proxy.ts';

process.once('message', (_ready, server) => proxyConnections(server as Server, `127.0.0.1:${process.argv[2]}`));
process.once('disconnect', () => process.exit());

/** Accepts connections at a socket of its parent process, and forwards them to a port of its own network namespace. */
import { connect, type Server, type Socket } from 'node:net';

const port = Number(process.argv[2]);
process.once('message', (_ready, server) => {
  (server as Server).on('connection', (outer: Socket) => {
    const inner = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      one.setNoDelay(true).on('error', () => undefined); // the close event follows
      one.once('close', () => other.destroy());
      one.pipe(other);
    }
  });
});
process.once('disconnect', () => process.exit());

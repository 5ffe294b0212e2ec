/** Where a program serves gRPC, for as long as it lives. */
import type { Server } from '@grpc/grpc-js';
import type { Lifecycle } from '../lifecycle.ts';
import { serverCredentials, type Tls } from '../tls.ts';

const drainMs = 3_000;

/**
 * Serves at "host:port" until the program stops. Resolves to the port.
 * @throws the system's error when it can't be listened on.
 */
export function listen(
  server: Server,
  at: { readonly listen: string; readonly tls: Tls },
  life: Lifecycle,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(at.listen, serverCredentials(at.tls), (error, port) => {
      if (error) return reject(error);
      life.onStop(() => drain(server));
      resolve(port);
    });
  });
}

/** Takes nothing in any more, and waits a while for what is in progress. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, drainMs);
    server.tryShutdown(() => {
      clearTimeout(late);
      resolve();
    });
  });
}

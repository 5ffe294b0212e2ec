/** Starts a gRPC server that stops with its program. */
import type { Server } from '@grpc/grpc-js';
import type { Lifecycle } from '../../process/lifecycle.ts';
import { serverCredentials, type Tls } from '../../tls/credentials.ts';

const drainMs = 3_000;

/**
 * Serves at "host:port" until the program stops. Resolves to the port.
 * @throws the system's error when it cannot listen there
 */
export function listen(
  server: Server,
  at: { readonly listen: string; readonly tls: Tls; readonly acceptTokens?: boolean },
  life: Lifecycle,
): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(at.listen, serverCredentials(at.tls, at), (error, port) => {
      if (error) return reject(error);
      life.onStop(() => drain(server));
      resolve(port);
    });
  });
}

/** Accepts no more calls, and waits for calls in progress until a timeout. */
function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, drainMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * The gRPC client of the services, on grpc-js. Programs for which start time or memory counts use
 * http2/connect.ts instead. grpc-js has no default deadline and no connect timeout.
 *
 * A channel of grpc-js can have several addresses, but stays with a hanging one while its
 * connection is open. So each replica has its own channel.
 */
import { type ChannelOptions, Client, Metadata } from '@grpc/grpc-js';
import { clientCredentials } from '../tls/credentials.ts';
import type { ClientTls, ServerKind } from '../tls/client-tls.ts';
import { type Channel, channelLimits, tlsServerName } from './channel.ts';
import { type Connection, openConnection } from './calls.ts';

export * from './calls.ts';

const { maxReplyBytes, keepaliveMs, keepaliveTimeoutMs, reconnect } = channelLimits;

const channelOptions: ChannelOptions = {
  'grpc.max_receive_message_length': maxReplyBytes,
  'grpc.keepalive_time_ms': keepaliveMs,
  'grpc.keepalive_timeout_ms': keepaliveTimeoutMs,
  'grpc.keepalive_permit_without_calls': 1,
  // The default backoff of two minutes would delay the first calls after a restart of the server.
  'grpc.initial_reconnect_backoff_ms': reconnect.firstMs,
  'grpc.max_reconnect_backoff_ms': reconnect.maxMs,
  'grpc.ssl_target_name_override': tlsServerName,
};

/**
 * Opens a connection to the replicas at `endpoints`: "host:port", or several separated by commas.
 * The first is used first. It connects at the first call. Close it with `close()`.
 * @param server the identity that the server's certificate must have, with TLS
 * @throws Error without an endpoint
 */
export const connect = (endpoints: string, tls: ClientTls, server: ServerKind = 'allocator'): Connection =>
  openConnection(endpoints, tls, server, (endpoint) =>
    createChannel(new Client(endpoint, clientCredentials(tls, server), channelOptions)),
  );

/** Wraps a grpc-js client as a channel, which closes the client. */
export function createChannel(client: Client): Channel {
  return {
    unary: ({ path, requestSerialize, responseDeserialize }, request, { timeoutMs, signal, headers }) =>
      new Promise((resolve, reject) => {
        const metadata = new Metadata();
        for (const [key, values = []] of Object.entries(headers))
          for (const value of [values].flat()) metadata.add(key, String(value));
        const cancel = (): void => sent.cancel();
        const deadline = Date.now() + timeoutMs;
        const sent = client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          metadata,
          { deadline },
          (error, reply) => {
            signal?.removeEventListener('abort', cancel);
            if (error || reply === undefined) reject(error ?? new Error(`${path}: empty reply`));
            else resolve(reply);
          },
        );
        signal?.addEventListener('abort', cancel, { once: true });
      }),
    async *serverStream({ path, requestSerialize, responseDeserialize }, request, signal) {
      const sent = client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request);
      const cancel = (): void => sent.cancel();
      signal.addEventListener('abort', cancel, { once: true });
      try {
        yield* sent;
      } finally {
        signal.removeEventListener('abort', cancel);
        sent.on('error', () => undefined);
        sent.cancel();
      }
    },
    close: () => client.close(),
  };
}

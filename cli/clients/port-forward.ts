/**
 * Forwards connections of a local socket to a port of a Pod, through the Kubernetes API. TLS and
 * the identity of the caller are inside of the connection: neither the API server nor the kubelet
 * can read them.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { KubeConfig, PortForward } from '@kubernetes/client-node';
import type { ServicePod } from './service-pods.ts';

/** The part of a WebSocket that is used here. */
interface WebSocketConnection {
  pause(): void;
  resume(): void;
  /** Closes the connection without the handshake, for whose end the program would wait. */
  terminate(): void;
  addEventListener(name: 'close' | 'error', listener: (event: unknown) => void): void;
}

export interface ForwardedPort extends Disposable {
  /** The local TCP port; undefined for a unix socket. */
  readonly port: number | undefined;
  /** Why the last connection failed; undefined if none did. */
  readonly failure: string | undefined;
}

export interface ForwardedPod {
  readonly namespace: string;
  readonly pod: ServicePod;
  /** A unix socket in a folder of this user only, or a port of loopback. */
  readonly local: ListenOptions;
}

/** Listens on the local socket. @throws Error when it cannot */
export async function forwardPort(config: KubeConfig, { namespace, pod, local }: ForwardedPod): Promise<ForwardedPort> {
  const { PortForward } = await import('@kubernetes/client-node');
  const forward = new PortForward(config);
  const open = new Set<Socket>();
  let failure: string | undefined;
  const server = createServer((inner) => {
    open.add(inner);
    inner.on('error', () => undefined); // the close event follows
    inner.once('close', () => open.delete(inner));
    const fail = (reason: string): void => {
      failure = explain(reason, namespace, pod);
      inner.destroy();
    };
    connectPod(forward, inner, { namespace, pod, fail }).catch((error: unknown) => fail(messageOf(error)));
  });
  server.listen(local);
  await once(server, 'listening');
  server.unref();
  const address = server.address();
  return {
    port: (address as AddressInfo | null)?.port,
    get failure() {
      return failure;
    },
    [Symbol.dispose]() {
      server.close();
      for (const one of open) one.destroy();
    },
  };
}

interface PodConnection {
  readonly namespace: string;
  readonly pod: ServicePod;
  readonly fail: (reason: string) => void;
}

async function connectPod(forward: PortForward, inner: Socket, target: PodConnection): Promise<void> {
  const { namespace, pod, fail } = target;
  let connection: WebSocketConnection | undefined;
  const fromPod = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (!inner.write(chunk)) {
        connection?.pause();
        inner.once('drain', () => connection?.resume());
      }
      done();
    },
  });
  const errors = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (chunk.length > 0) fail(chunk.toString());
      done();
    },
  });
  inner.pause(); // until the request of the connection is answered
  // The package has no types of its WebSocket.
  const opened: unknown = await forward.portForward(namespace, pod.name, [pod.port], fromPod, errors, inner);
  connection = opened as WebSocketConnection;
  inner.once('close', () => connection?.terminate());
  connection.addEventListener('close', () => inner.destroy());
  connection.addEventListener('error', (event) => fail(messageOf(event)));
  if (inner.destroyed) connection.terminate();
  inner.resume();
}

/** The message of an Error, or of the event of a WebSocket. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : ((thrown as { message?: string } | undefined)?.message ?? String(thrown));

function explain(reason: string, namespace: string, { name, port }: ServicePod): string {
  const where = `port ${port} of Pod ${namespace}/${name} cannot be forwarded`;
  return /\b403\b/.test(reason)
    ? `${where}: your Kubernetes user needs the verbs get and create on pods/portforward in namespace ${namespace}. The Roles ipledger-connect and ipledger-doctor have them`
    : `${where}: ${reason.trim()}`;
}

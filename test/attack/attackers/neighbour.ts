/** Clients without an identity that the allocator accepts. */
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { certificateFolder } from '../../harness/certificates/certificates.ts';
import type { Attack } from '../target.ts';
import { ended, openSession, startCall } from './raw-http2.ts';
import { repeat } from './repeat.ts';

/** More connections than a probe may have to wait behind. */
const silentConnections = 400;
/** A header list as large as an HTTP/2 server accepts by default. */
const largeHeader = 'x'.repeat(15_000);

/** Holds silent TCP connections to the API and to the health port, and replaces closed ones. */
export const connectSilently: Attack = async ({ endpoint, health }, signal, count) => {
  const hold = async (at: string): Promise<void> => {
    const [host = '', port = ''] = at.split(':');
    const socket: Socket = connectTcp(Number(port), host);
    socket.on('error', () => undefined);
    socket.once('connect', () => count('connected'));
    const abort = (): void => void socket.destroy();
    signal.addEventListener('abort', abort, { once: true });
    await new Promise((resolve) => socket.once('close', resolve));
    signal.removeEventListener('abort', abort);
  };
  await repeat({ concurrent: 2 * silentConnections, signal, count }, (turn) =>
    hold(turn % 2 === 0 ? endpoint : health),
  );
};

/**
 * Sends calls with large headers, without a certificate or with that of another authority. No call
 * ends its request.
 */
export const callWithoutIdentity: Attack = async ({ endpoint, foreignCertificates }, signal, count) => {
  const foreign = certificateFolder(foreignCertificates).watcher;
  const headers = { 'x-first': largeHeader, 'x-second': largeHeader, 'x-third': largeHeader };
  await repeat({ concurrent: 8, signal, count }, async (turn) => {
    const session = openSession(endpoint, turn % 2 === 0 ? undefined : foreign);
    try {
      const streams = Array.from({ length: 100 }, () => ended(startCall(session, IpamService.bind.path, headers)));
      await Promise.race([Promise.all(streams), sleep(2_000)]);
    } finally {
      session.destroy();
    }
  });
};

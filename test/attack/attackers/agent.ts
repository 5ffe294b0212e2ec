/** Attacks of an agent that uses its calls to their limits. The node of the agent has no Pods. */
import { gzipSync } from 'node:zlib';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, connect } from '../../../lib/grpc/client.ts';
import { loadTls } from '../../../lib/tls/credentials.ts';
import { IpamService } from '../../../proto/generated/ipledger.ts';
import { certificateFolder } from '../../harness/certificates/certificates.ts';
import type { Attack } from '../target.ts';
import { ended, frame, openSession, startCall } from './raw-http2.ts';
import { repeat } from './repeat.ts';

const node = 'node-1';
const options = { timeoutMs: 60_000 };
/** The most that a request of any caller may have, in bytes. */
const largestMessage = 1_048_576;

const sandbox = (turn: number) => ({
  namespace: 'default',
  pod: `absent-${turn}`,
  podUid: `uid-absent-${turn}`,
  provider: 'lan.default',
  containerId: `container-${turn}`,
  interface: 'net1',
});

/** Sends lists, waits and commands, each as soon as the reply before has arrived. */
export const callAsAgent: Attack = async ({ endpoint, certificates }, signal, count) => {
  const tls = loadTls(certificateFolder(certificates).agent(node));
  const connections = Array.from({ length: 4 }, () => connect(endpoint, tls));
  const send = (turn: number) => {
    const connection = connections[turn % connections.length] as (typeof connections)[number];
    switch (turn % 4) {
      case 0:
        return call(connection, IpamService.listBindings, { node, pageSize: 1_000 }, options);
      case 1:
        return call(connection, IpamService.listAllocations, { node, pageSize: 1_000 }, options);
      case 2:
        return call(connection, IpamService.attach, { ...sandbox(turn), node, bootId: 'b', timeoutMs: 2_000 }, options);
      default:
        return call(connection, IpamService.unbind, sandbox(turn), options);
    }
  };
  await repeat({ concurrent: 512, signal, count }, send);
};

/**
 * Opens many streams, each with a message that never ends, and sends messages that inflate to a
 * thousand times their size.
 */
export const streamAsAgent: Attack = async ({ endpoint, certificates }, signal, count) => {
  const tls = certificateFolder(certificates).agent(node);
  const unfinished = frame(Buffer.alloc(largestMessage - 1), { length: largestMessage });
  const bomb = frame(gzipSync(Buffer.alloc(largestMessage)), { compressed: true });
  await repeat({ concurrent: 8, signal, count }, async () => {
    const session = openSession(endpoint, tls);
    try {
      const streams = Array.from({ length: 100 }, (_, index) => {
        const stream = startCall(session, IpamService.bind.path, { 'grpc-encoding': 'gzip' });
        if (index % 2 === 0) stream.write(unfinished);
        else stream.end(bomb);
        return ended(stream);
      });
      await Promise.race([Promise.all(streams), sleep(2_000)]);
    } finally {
      session.destroy();
    }
  });
};

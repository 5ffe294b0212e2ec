/** A viewer and the watcher, with the most expensive calls that each may send. */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, connect, stream, type Connection } from '../../../lib/grpc/client.ts';
import { loadTls } from '../../../lib/tls/credentials.ts';
import { IpamService, LedgerService } from '../../../proto/generated/ipledger.ts';
import { certificateFolder } from '../../harness/certificates/certificates.ts';
import type { Attack, Target } from '../target.ts';
import { repeat } from './repeat.ts';

const options = { timeoutMs: 60_000 };
const steadyPauseMs = 40;
/** An event that no test reaches. */
const farSeq = 1_000_000_000;

/** Opens streams of events, states of the past, and reads that wait for events which never come. */
export const callAsViewer: Attack = async ({ endpoint, certificates }, signal, count) => {
  const connection = connect(endpoint, loadTls(certificateFolder(certificates).viewer));
  const drain = async (replies: AsyncIterator<unknown>): Promise<void> => {
    while (!(await replies.next()).done);
  };
  const streamed = { silenceMs: 60_000, signal };
  const send = (turn: number): Promise<unknown> => {
    switch (turn % 4) {
      case 0:
        return drain(stream(connection, LedgerService.watch, { fromSeq: 1 }, streamed));
      case 1:
        return drain(
          stream(connection, LedgerService.stateAt, { pointInTime: { at: new Date().toISOString() } }, streamed),
        );
      case 2:
        return call(connection, IpamService.listAllocations, { minSeq: farSeq }, options);
      default:
        return call(connection, IpamService.listAllocations, { pageSize: 1_000 }, options);
    }
  };
  await repeat({ concurrent: 512, signal, count }, send);
};

/**
 * Allocates and releases, with as many calls in progress as its client library allows, and lists
 * everything.
 */
export const callAsWatcher: Attack = async (target, signal, count) => {
  const connection = connectWatcher(target);
  const replacePod = replacePods(connection, target.subnet);
  await repeat({ concurrent: 256, signal, count }, (turn) =>
    turn % 4 === 3
      ? call(connection, IpamService.listAllocations, { pageSize: 1_000 }, options)
      : replacePod(`churn-${turn}`),
  );
};

/** Creates and deletes 25 Pods a second, as the watcher of a busy cluster does. */
export async function createPodsSteadily(target: Target, signal: AbortSignal): Promise<void> {
  const replacePod = replacePods(connectWatcher(target), target.subnet);
  const send = async (turn: number): Promise<void> => {
    await replacePod(`steady-${turn}`);
    await sleep(steadyPauseMs);
  };
  await repeat({ concurrent: 1, signal, count: () => undefined }, send);
}

const connectWatcher = ({ endpoint, certificates }: Target): Connection =>
  connect(endpoint, loadTls(certificateFolder(certificates).watcher));

/** Returns a function that allocates an address for a Pod of this name, and releases it. */
function replacePods(connection: Connection, subnet: string): (name: string) => Promise<unknown> {
  const attachments = [{ provider: `${subnet}.default`, subnets: [subnet] }];
  return async (name) => {
    const uid = `uid-${name}`;
    const pod = { namespace: 'attack', name, uid, node: 'node-3' };
    await call(connection, IpamService.allocate, { pod, attachments }, options);
    const released = { namespace: 'attack', pod: name, podUid: uid, cause: 'RELEASE_CAUSE_POD_DELETED' } as const;
    return call(connection, IpamService.release, released, options);
  };
}

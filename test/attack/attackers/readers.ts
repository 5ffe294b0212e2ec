/** A viewer and the watcher, with the most expensive calls that each may send. */
import { call, connect, stream } from '../../../lib/grpc/client.ts';
import { loadTls } from '../../../lib/tls/credentials.ts';
import { IpamService, LedgerService } from '../../../proto/generated/ipledger.ts';
import { certificateFolder } from '../../harness/certificates/certificates.ts';
import type { Attack } from '../target.ts';
import { repeat } from './repeat.ts';

const options = { timeoutMs: 60_000 };
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
export const callAsWatcher: Attack = async ({ endpoint, certificates, subnet }, signal, count) => {
  const connection = connect(endpoint, loadTls(certificateFolder(certificates).watcher));
  const attachments = [{ provider: `${subnet}.default`, subnets: [subnet] }];
  await repeat({ concurrent: 256, signal, count }, async (turn) => {
    if (turn % 4 === 3) return call(connection, IpamService.listAllocations, { pageSize: 1_000 }, options);
    const [name, uid] = [`churn-${turn}`, `uid-churn-${turn}`];
    const pod = { namespace: 'attack', name, uid, node: 'node-3' };
    await call(connection, IpamService.allocate, { pod, attachments }, options);
    const released = { namespace: 'attack', pod: name, podUid: uid, cause: 'RELEASE_CAUSE_POD_DELETED' } as const;
    return call(connection, IpamService.release, released, options);
  });
};

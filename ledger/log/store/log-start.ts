/** The error for a sealed event when the archive is not available. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../../domain/events/event.ts';
import { parseEvent } from '../chain/chain.ts';

/**
 * @param logStart the first event in etcd, and `firstLine` its line.
 * @throws IpledgerError POSITION_GONE with the log start and its time.
 */
export function refuseSealedEvent(seq: Seq, logStart: Seq, firstLine: string | undefined): never {
  const since = firstLine === undefined ? '' : ` of ${parseEvent(firstLine).envelope.at}`;
  throw new IpledgerError(
    'POSITION_GONE',
    `event ${seq} is sealed and no longer in etcd. The first event in etcd is ${logStart}${since}. Begin with event ${logStart}, or use an allocator that has the archive (--archive)`,
  );
}

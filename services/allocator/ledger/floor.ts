/** The refusal for whoever asks for sealed events where the archive is not at hand. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Seq } from '../domain/event.ts';
import { parseEvent } from './chain.ts';

/**
 * @param first the line of the event at the floor.
 * @throws IpledgerError POSITION_GONE that names the floor, its time and where to begin.
 */
export function refuseBelow(seq: Seq, floor: Seq, first: string | undefined): never {
  const since = first === undefined ? '' : ` of ${parseEvent(first).envelope.at}`;
  throw new IpledgerError(
    'POSITION_GONE',
    `event ${seq} is sealed and not in etcd any more: the first live one is event ${floor}${since}. Begin there, or ask an allocator that has the archive (--archive)`,
  );
}

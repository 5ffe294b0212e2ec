/**
 * Seals what need not stay live, for as long as this replica is the writer. Only whole segments are sealed, so etcd holds at
 * most one segment more than is to be kept.
 */
import { pause } from '../../../lib/deadline.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import type { SegmentSealed, Seq } from '../domain/event.ts';
import { sealedTo } from '../domain/state.ts';
import { parseEvent } from '../ledger/chain.ts';
import type { Replica } from '../ledger/replica.ts';
import type { Writer } from '../ledger/writer.ts';
import { prune, seal, type Sealing } from './seal.ts';

/** An event stays live while any of these holds. */
export interface Retention {
  /** It is one of so many last ones. */
  readonly keepEvents: number;
  /** It is younger; 0: no matter how young. */
  readonly keepMs: number;
  /** So many events are sealed at once. */
  readonly segmentEvents: number;
}

const lookMs = 1_000;
const mostBackoffMs = 60_000;

export interface RetentionOptions extends Pick<Sealing, 'ledger' | 'archive' | 'after'> {
  readonly replica: Replica;
  /** undefined while another replica is the writer. */
  readonly writer: () => Writer | undefined;
  readonly retention: Retention;
  readonly log: Logger;
}

/** Goes on until the signal is aborted; whatever fails is tried again. */
export async function keepBounded(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { replica, writer, ledger, retention, log } = options;
  const submit = (segment: SegmentSealed['data']): Promise<void> => sealedBy(options, segment, signal);
  let pruned: Writer | undefined;
  let waitMs = lookMs;
  while (!signal.aborted) {
    await pause(waitMs, signal);
    const here = writer();
    if (!here || signal.aborted) continue;
    try {
      // What an earlier writer sealed and did not get to delete.
      if (pruned !== here) await prune({ ...options, submit }, signal);
      pruned = here;
      const to = sealedTo(replica.state) + retention.segmentEvents;
      const isDue = to <= replica.head.seq - retention.keepEvents && (await isOldEnough(options, to, signal));
      waitMs = isDue ? 0 : lookMs;
      if (!isDue) continue;
      const { from, to: last, archive } = await seal({ ...options, ledger, submit }, to, signal);
      log.info({ from, to: last, archive }, 'events sealed');
    } catch (error) {
      if (signal.aborted) return;
      waitMs = Math.min(mostBackoffMs, Math.max(lookMs, waitMs * 2));
      log.warn({ reason: IpledgerError.from(error).message }, 'nothing is sealed; it is tried again');
    }
  }
}

async function sealedBy(
  { writer }: RetentionOptions,
  segment: SegmentSealed['data'],
  signal: AbortSignal,
): Promise<void> {
  const here = writer();
  if (!here) throw new IpledgerError('NOT_WRITER', 'another replica is the writer, and seals');
  const answer = (): undefined => undefined;
  await here.submit({
    command: (now) => ({ type: 'SealSegment', now, segment }),
    answer,
    actor: 'allocator',
    signal,
  });
}

async function isOldEnough(
  { ledger, replica, retention: { keepMs } }: RetentionOptions,
  seq: Seq,
  signal: AbortSignal,
): Promise<boolean> {
  if (keepMs === 0) return true;
  const [line] = await ledger.readEach([seq], signal);
  return line !== undefined && parseEvent(line.text).sequenced.at <= replica.clock.read().at - keepMs;
}

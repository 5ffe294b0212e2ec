/**
 * Watches of a history. Each follows the log from its first event, at any replica, and after a
 * failure continues after the last event that it has.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { IpledgerError } from '../../lib/errors.ts';
import { connect, stream } from '../../lib/grpc/client.ts';
import { LedgerService, type Position } from '../../proto/generated/ipledger.ts';
import { eventually } from '../e2e/support/eventually.ts';
import type { Run } from '../harness/run.ts';
import type { History } from './history.ts';

const silenceMs = 6_000;
const retryMs = 100;

export interface Watcher {
  /** Resolves when the watch has this event. */
  hasSeen(seq: number): Promise<void>;
}

/**
 * Follows the log until the run ends.
 * @param subnet the Subnet whose events are followed; '' for all
 */
export function startWatcher(
  run: Run,
  history: History,
  { name, endpoints, subnet = '' }: { readonly name: string; readonly endpoints: string; readonly subnet?: string },
): Watcher {
  const connection = connect(endpoints, undefined);
  let last: Position | undefined;
  let lastSeq = 0;
  const follow = async (): Promise<void> => {
    const request = { fromSeq: (last?.seq ?? 0) + 1, subnet, ...(last && { after: last }) };
    for await (const reply of stream(connection, LedgerService.watch, request, { silenceMs, signal: run.signal })) {
      // The first reply, and a keepalive, have the head: events up to there may follow
      if (reply.events.length === 0) continue;
      history.addDeliveries(name, subnet, reply);
      last = reply.position;
      lastSeq = reply.events.at(-1)?.seq ?? lastSeq;
    }
  };
  let failure: IpledgerError | undefined;
  const watching = (async () => {
    while (!run.signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (IpledgerError.from(error).kind !== 'transient') throw error;
      }
      await sleep(retryMs, undefined, { signal: run.signal }).catch(() => undefined);
    }
  })();
  watching.catch((error: unknown) => (failure = IpledgerError.from(error)));
  run.onEnd(() => connection.close());
  return {
    hasSeen: (seq) =>
      eventually(() => {
        if (failure) throw failure;
        if (lastSeq < seq) throw new Error(`watcher ${name} has event ${lastSeq}, and not event ${seq}`);
      }),
  };
}

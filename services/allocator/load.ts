/** An allocator begins with the ledger as it stands in etcd. */
import { backoffMs, pause } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Ledger } from './ledger/ledger.ts';
import { Replica } from './ledger/replica.ts';

/** The ledger, once etcd answers: it may come up after us. @throws what Replica.load throws, but for outages. */
export async function loadReplica(ledger: Ledger, log: Logger, signal: AbortSignal): Promise<Replica> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await Replica.load(ledger, signal, undefined, log);
    } catch (error) {
      if (IpledgerError.from(error).kind !== 'transient' || signal.aborted) throw error;
      log.warn({ reason: IpledgerError.from(error).message }, 'the ledger cannot be loaded yet');
      await pause(backoffMs(attempt, 100, 2_000), signal);
    }
  }
}

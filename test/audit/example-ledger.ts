/** A small example ledger in etcd with known events. */
import { allocate } from '../../ledger/domain/testing/event-fixtures.ts';
import type { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import {
  requestFor,
  bind,
  submitAll,
  createLedger,
  macvlan,
  release,
  small,
  startWriter,
  unbind,
} from '../../ledger/log/testing/running-writer.ts';

/**
 * Writes the ledger. `beforeLastEvents` runs before the last two events:
 *
 *    1 ledger  2 subnet macvlan  3 subnet small
 *    4 a gets .11   5 a is bound   6 a is deleted   7 a is unbound
 *    8 b gets .12   9 c is refused: it requests .12    10 b is bound
 *   11 d gets .13  12 d is bound
 */
export async function writeExampleLedger(ledger: EtcdLedger, beforeLastEvents: () => Promise<void>): Promise<void> {
  const { writer, stop } = await startWriter(ledger);
  await submitAll(writer, createLedger(), macvlan, small);
  await submitAll(writer, allocate('a'), bind('a'), release('a'), unbind('a'), allocate('b'));
  const refused = writer.submit(requestFor(allocate('c', { candidates: [['172.17.0.12']] })));
  await refused.then(
    () => Promise.reject(new Error('the writer accepted the request of c')),
    () => undefined,
  );
  await submitAll(writer, bind('b'));
  await beforeLastEvents();
  await submitAll(writer, allocate('d'), bind('d'));
  await stop();
}

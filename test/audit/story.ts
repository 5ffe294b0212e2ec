/** A small ledger in etcd, of which every event is known. */
import { allocate } from '../../services/allocator/domain/specification.ts';
import type { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import {
  ask,
  bind,
  carryOut,
  createLedger,
  macvlan,
  release,
  small,
  startWriter,
  unbind,
} from '../../services/allocator/ledger/specification.ts';

/**
 * Tells it, and what came after it once `afterStory` is done:
 *
 *    1 ledger  2 subnet macvlan  3 subnet small
 *    4 a gets .11   5 a is bound   6 a is deleted   7 a is unbound
 *    8 b gets .12   9 c is refused: it wants .12    10 b is bound
 *   11 d gets .13  12 d is bound
 */
export async function tellStory(ledger: EtcdLedger, afterStory: () => Promise<void>): Promise<void> {
  const { writer, stop } = await startWriter(ledger);
  await carryOut(writer, createLedger(), macvlan, small);
  await carryOut(writer, allocate('a'), bind('a'), release('a'), unbind('a'), allocate('b'));
  const refused = writer.submit(ask(allocate('c', { candidates: [['172.17.0.12']] })));
  await refused.then(
    () => Promise.reject(new Error('c was to be refused')),
    () => undefined,
  );
  await carryOut(writer, bind('b'));
  await afterStory();
  await carryOut(writer, allocate('d'), bind('d'));
  await stop();
}

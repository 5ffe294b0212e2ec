/** The example day of docs/audit.md. */
import { allocate } from '../../ledger/domain/testing/event-fixtures.ts';
import type { Untimed } from '../../ledger/domain/testing/given-when-then.ts';
import { LedgerClock } from '../../ledger/log/chain/ledger-clock.ts';
import type { EtcdLedger } from '../../ledger/log/store/etcd-ledger.ts';
import { Replica } from '../../ledger/log/reader/replica.ts';
import {
  requestFor,
  bind,
  createLedger,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
} from '../../ledger/log/testing/running-writer.ts';

const begin = Date.parse('2026-11-17T14:00:00.000Z');
const minute = 60_000;

/** The commands, each with its minute after 14:00 and its actor. */
const exampleDay: readonly (readonly [at: number, actor: string, command: Untimed])[] = [
  [0, 'ipledger://allocator/a', createLedger()],
  [0, 'ipledger://watcher', macvlan],
  [0, 'ipledger://operator/anna', small],
  [1, 'ipledger://watcher', allocate('web-0')],
  [1, 'ipledger://agent/node-1', bind('web-0')],
  [2, 'ipledger://watcher', allocate('web-1')],
  [2, 'ipledger://agent/node-1', bind('web-1')],
  [3, 'ipledger://watcher', allocate('web-2')],
  [4, 'ipledger://watcher', release('web-2')],
  [7, 'ipledger://watcher', release('web-0')],
  [7, 'ipledger://agent/node-1', unbind('web-0')],
  [9, 'ipledger://watcher', allocate('db-0', { candidates: [['172.17.0.12']] })],
  [20, 'ipledger://watcher', allocate('db-0', { candidates: [['172.17.0.11']] })],
  [21, 'ipledger://agent/node-1', bind('db-0')],
];

const drop: Untimed = { type: 'DropClaims', subnet: 'macvlan', addresses: ['172.17.0.11', '172.17.0.13'] };

/**
 * The days after: claims are dropped after their cooldown. An address is used and dropped again.
 */
export const followingDays: typeof exampleDay = [
  [1_500, 'ipledger://watcher', release('db-0')],
  [1_500, 'ipledger://agent/node-1', unbind('db-0')],
  [1_600, 'allocator', drop],
  [1_601, 'ipledger://watcher', allocate('late', { candidates: [['172.17.0.11']] })],
  [1_602, 'ipledger://watcher', release('late')],
  [1_700, 'allocator', drop],
];

/** Submits all commands at their times. Refused commands are not repeated. */
export async function recordDay(ledger: EtcdLedger, day = exampleDay): Promise<void> {
  let now = begin;
  const clock = new LedgerClock({ wall: () => now, monotonic: () => now - begin });
  const { writer, stop } = await startWriter(ledger, { replica: await Replica.load(ledger, never, clock) });
  for (const [at, actor, command] of day) {
    now = begin + at * minute;
    await writer.submit({ ...requestFor(command), actor }).catch(() => undefined);
  }
  await stop();
}

/** The day that docs/audit.md asks ten questions about. */
import { allocate, type Untimed } from '../../services/allocator/domain/specification.ts';
import { LedgerClock } from '../../services/allocator/ledger/clock.ts';
import type { EtcdLedger } from '../../services/allocator/ledger/etcd.ts';
import { Replica } from '../../services/allocator/ledger/replica.ts';
import {
  ask,
  bind,
  createLedger,
  macvlan,
  never,
  release,
  small,
  startWriter,
  unbind,
} from '../../services/allocator/ledger/specification.ts';

const begin = Date.parse('2026-11-17T14:00:00.000Z');
const minute = 60_000;

/** What was asked, at which minute after 14:00, and by whom. */
const told: readonly (readonly [at: number, actor: string, command: Untimed])[] = [
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

/** The days after: the addresses rest, and their claims are dropped; one is used once more, and rests again. */
export const daysAfter: typeof told = [
  [1_500, 'ipledger://watcher', release('db-0')],
  [1_500, 'ipledger://agent/node-1', unbind('db-0')],
  [1_600, 'allocator', drop],
  [1_601, 'ipledger://watcher', allocate('late', { candidates: [['172.17.0.11']] })],
  [1_602, 'ipledger://watcher', release('late')],
  [1_700, 'allocator', drop],
];

/** Has it all happened, at these times; what is refused is refused. */
export async function liveThrough(ledger: EtcdLedger, day = told): Promise<void> {
  let now = begin;
  const clock = new LedgerClock({ wall: () => now, monotonic: () => now - begin });
  const { writer, stop } = await startWriter(ledger, { replica: await Replica.load(ledger, never, clock) });
  for (const [at, actor, command] of day) {
    now = begin + at * minute;
    await writer.submit({ ...ask(command), actor }).catch(() => undefined);
  }
  await stop();
}

/**
 * A follower of the ledger, as a process: it receives and checks every event, as a pod-watcher
 * does, and writes nothing. SIGUSR2 makes it print the number of its last event.
 */
import { connect, stream } from '../../../../lib/grpc/client.ts';
import { subscribeEvents } from '../../../../lib/ledger-client/event-subscription.ts';
import { LedgerService, type Position } from '../../../../proto/generated/ipledger.ts';

const connection = connect(process.env['FOLLOWER_ENDPOINT'] ?? '', undefined);
const { signal } = new AbortController();
const start: Position = { epoch: 0, seq: 0, hash: '' };
let position = start;
process.on('SIGUSR2', () => void process.stdout.write(`${position.seq}\n`));

await subscribeEvents({
  position: () => position,
  watch: (after) => {
    const request = { fromSeq: (after?.seq ?? 0) + 1 };
    return stream(connection, LedgerService.watch, request, { silenceMs: 60_000, signal });
  },
  apply: (batch) => {
    if (position === start) process.stdout.write('following\n');
    ({ position } = batch);
  },
  // A follower that was suspended for longer than its connection allows continues from its position
  onFailure: () => undefined,
  signal,
});

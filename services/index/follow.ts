/** Keeps the read model up to date: follows Ledger.Watch from its last position, in whole commands. */
import { setImmediate } from 'node:timers/promises';
import { backoffMs, pause } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/log.ts';
import type { Event, Position, WatchReply } from '../../proto/ipledger.ts';
import type { Model } from './model.ts';

export interface FollowOptions {
  readonly model: Pick<Model, 'position' | 'hear' | 'append' | 'forget'>;
  /** The first event that it wants to know. */
  readonly from: number;
  readonly watch: (fromSeq: number, signal: AbortSignal) => AsyncIterable<WatchReply>;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const firstBackoffMs = 200;
const mostBackoffMs = 5_000;
/** A transaction's worth, some ten milliseconds: nobody who asks meanwhile waits longer. */
const eventsAtOnce = 100;

/** Goes on until the signal is aborted, whatever breaks. */
export async function follow({ model, from, watch, log, signal }: FollowOptions): Promise<void> {
  for (let breaks = 0; !signal.aborted; breaks++) {
    try {
      for await (const reply of watch(Math.max(from, model.position.seq + 1), signal)) {
        await take(model, reply, signal);
        if (reply.events.length > 0) breaks = 0; // a sign of life also comes before what cannot be told
      }
    } catch (thrown) {
      if (signal.aborted) return;
      const error = IpledgerError.from(thrown);
      const { seq } = model.position;
      if (error.code === 'POSITION_GONE' && seq > 0) {
        log.error({ seq, reason: error.message }, 'the ledger is not the one that was followed: starting anew');
        model.forget();
      } else log.warn({ code: error.code, reason: error.message, seq, breaks }, 'interrupted, going on');
    }
    await pause(backoffMs(breaks, firstBackoffMs, mostBackoffMs), signal);
  }
}

/** @throws IpledgerError POSITION_GONE when the ledger was rewound below what is known, whatever was written to it since. */
async function take(model: FollowOptions['model'], { position, events }: WatchReply, signal: AbortSignal) {
  if (!position) throw new IpledgerError('BUG', 'a reply without position');
  const { epoch } = position;
  if (events.length === 0) refuseRewound(model.position, position);
  for (const part of inTransactions(events)) {
    if (signal.aborted) return;
    model.append(part, chained(model.position, part, epoch));
    await setImmediate();
  }
  model.hear(position.seq);
}

function refuseRewound(known: Position, head: Position): void {
  if (head.seq < known.seq || (head.seq === known.seq && head.hash !== known.hash)) throw rewound(known);
}

/** The position behind these events. @throws IpledgerError when they do not follow what is known. */
function chained(known: Position, events: readonly Event[], epoch: number): Position {
  let { seq, hash } = known;
  for (const event of events) {
    // The oldest that there is may have others before it that are gone.
    if (seq > 0 && event.seq !== seq + 1)
      throw new IpledgerError('UNAVAILABLE', `event ${event.seq} arrived after event ${seq}`);
    if (seq > 0 && event.prev !== hash) throw rewound({ epoch, seq, hash });
    ({ seq, hash } = event);
  }
  return { epoch, seq, hash };
}

const rewound = ({ seq, hash }: Position): IpledgerError =>
  new IpledgerError('POSITION_GONE', `event ${seq} (${hash}) is not in the ledger any more: it was rewound`);

/** Cut where it is enough, never inside a command. */
function* inTransactions(events: readonly Event[]): Generator<readonly Event[]> {
  let first = 0;
  for (const [index, { part, parts }] of events.entries())
    if (part === parts && index + 1 - first >= eventsAtOnce) {
      yield events.slice(first, index + 1);
      first = index + 1;
    }
  if (first < events.length) yield events.slice(first);
}

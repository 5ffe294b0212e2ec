/** Step 2 of a command's life in the writer: it is decided against the state with the batch in it, and its events go into the batch. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/log.ts';
import { decide } from '../domain/decide.ts';
import type { AllocationRefused } from '../domain/event.ts';
import { goesOnWhileFrozen } from '../domain/frozen.ts';
import type { Undo } from '../domain/journal.ts';
import { Refused } from '../domain/refusal.ts';
import type { Decided, Queued } from './ask.ts';
import type { BatchBuilder } from './batch.ts';
import type { StoredEvent } from './chain.ts';
import { type Replica, refusalKey } from './replica.ts';
import type { EventVersion } from './upcast.ts';

export interface Decider {
  readonly replica: Replica;
  /** ULIDs. */
  readonly newId: () => string;
  /** The newest schema version that all live replicas can read. */
  readonly eventVersion: () => EventVersion;
  readonly log: Logger;
}

/** What to do once the batch is proven; 'full' when it has to be decided in the next. A command that throws fails alone. */
export function decideInto(builder: BatchBuilder, queued: Queued, decider: Decider): Decided | 'full' {
  const { ask, resolve, reject } = queued;
  const nothing = (error: IpledgerError): Decided => {
    return { queued, writes: false, evenFrozen: true, settle: () => reject(error) };
  };
  const { replica, newId, eventVersion, log } = decider;
  const reading = replica.clock.read(builder.head.at);
  let undo: Undo | undefined;
  try {
    const command = ask.command?.(reading.at, builder.head);
    const decision = command ? decide(replica.state, command) : { kind: 'accepted' as const, events: [] };
    const evenFrozen = !command || goesOnWhileFrozen(command);
    const stamp = { command: newId(), newId, reading, actor: ask.actor, version: eventVersion(), evenFrozen };
    if (decision.kind === 'refused') {
      const { code, message } = decision.refusal;
      const record = newsOf(decision.record, builder, replica);
      const recorded = builder.add(record, stamp);
      // A record that fits no transaction is done without: whoever was refused is told all the same.
      if (!recorded && builder.events.length > 0) return 'full';
      return { ...nothing(new IpledgerError(code, message)), writes: record.length > 0, evenFrozen };
    }
    undo = builder.add(decision.events, stamp);
    if (!undo) return builder.events.length > 0 ? 'full' : nothing(tooLarge);
    const answer = ask.answer(replica.state, decision.events, reading.at);
    const { head } = builder;
    return { queued, writes: decision.events.length > 0, evenFrozen, settle: () => resolve({ answer, head }) };
  } catch (error) {
    undo?.();
    if (error instanceof Refused) return nothing(new IpledgerError(error.refusal.code, error.refusal.message));
    log.error({ err: error }, 'a command failed');
    return nothing(IpledgerError.from(error));
  }
}

/** A refusal goes into the log once for each (Pod uid, reason), as long as that is remembered. */
function newsOf(
  record: AllocationRefused | undefined,
  { events }: BatchBuilder,
  replica: Replica,
): readonly AllocationRefused[] {
  if (!record || replica.knowsRefusal(record)) return [];
  const isSame = ({ sequenced }: StoredEvent): boolean =>
    sequenced.type === 'AllocationRefused' && refusalKey(sequenced) === refusalKey(record);
  return events.some(isSame) ? [] : [record];
}

const tooLarge = new IpledgerError(
  'INVALID_REQUEST',
  'the request does not fit one transaction: ask for fewer attachments',
);

/** Step 2 of a request in the writer: decides the request, and adds its events to the batch. */
import { IpledgerError } from '../../../lib/errors.ts';
import type { Logger } from '../../../lib/process/log.ts';
import { decide, isCommandAllowedWhileFrozen } from '../../domain/decide/decide.ts';
import type { AllocationRefused } from '../../domain/events/event.ts';
import type { Undo } from '../../domain/state/undo-log.ts';
import { Refused } from '../../domain/commands/refusal.ts';
import type { DecidedRequest, QueuedRequest } from '../pending-request.ts';
import type { BatchBuilder } from './batch.ts';
import type { StoredEvent } from '../chain/chain.ts';
import { type Replica, refusalKey } from '../reader/replica.ts';
import type { EventVersion } from '../../domain/events/schema-version.ts';

export interface DecisionContext {
  readonly replica: Replica;
  /** Returns a new ULID. */
  readonly newId: () => string;
  /** The newest schema version that all live replicas can read. */
  readonly eventVersion: () => EventVersion;
  readonly log: Logger;
}

/** Decides a request. 'full': it belongs in the next batch. A throw fails only this request. */
export function decideRequest(
  builder: BatchBuilder,
  queued: QueuedRequest,
  decider: DecisionContext,
): DecidedRequest | 'full' {
  const { request, resolve, reject } = queued;
  const rejected = (error: IpledgerError): DecidedRequest => {
    return { queued, writes: false, isAllowedWhileFrozen: true, settle: () => reject(error) };
  };
  const { replica, newId, eventVersion, log } = decider;
  const reading = replica.clock.read(builder.head.at);
  let undo: Undo | undefined;
  try {
    const command = request.command?.(reading.at, builder.head);
    const decision = command ? decide(replica.state, command) : { kind: 'accepted' as const, events: [] };
    const isAllowedWhileFrozen = !command || isCommandAllowedWhileFrozen(command);
    const stamp = {
      command: newId(),
      newId,
      reading,
      actor: request.actor,
      version: eventVersion(),
      isAllowedWhileFrozen,
    };
    if (decision.kind === 'refused') {
      const { code, message } = decision.refusal;
      const record = unrecorded(decision.record, builder, replica);
      const isRecorded = builder.add(record, stamp);
      // Drops a record that fits into no transaction. The caller still receives the refusal.
      if (!isRecorded && builder.events.length > 0) return 'full';
      return { ...rejected(new IpledgerError(code, message)), writes: record.length > 0, isAllowedWhileFrozen };
    }
    undo = builder.add(decision.events, stamp);
    if (!undo) return builder.events.length > 0 ? 'full' : rejected(tooLarge);
    const startedAt = performance.now();
    const answer = request.answer(replica.state, decision.events, reading.at);
    const readMs = performance.now() - startedAt;
    const { head } = builder;
    return {
      queued,
      writes: decision.events.length > 0,
      isAllowedWhileFrozen,
      deadline: command?.type === 'Allocate' ? command.deadline : undefined,
      readMs,
      settle: () => resolve({ answer, head }),
    };
  } catch (error) {
    undo?.();
    if (error instanceof Refused) return rejected(new IpledgerError(error.refusal.code, error.refusal.message));
    if (error instanceof IpledgerError && error.kind !== 'bug') return rejected(error);
    log.error({ err: error }, 'a command threw an error; the caller receives it');
    return rejected(IpledgerError.from(error));
  }
}

/** Returns the record unless the log has an equal one, as far as the list goes back. */
function unrecorded(
  record: AllocationRefused | undefined,
  builder: BatchBuilder,
  replica: Replica,
): readonly AllocationRefused[] {
  if (!record || replica.hasRecordedRefusal(record)) return [];
  const isSame = ({ sequenced }: StoredEvent): boolean =>
    sequenced.type === 'AllocationRefused' && refusalKey(sequenced) === refusalKey(record);
  return builder.hasUncommitted(isSame) ? [] : [record];
}

const tooLarge = new IpledgerError(
  'INVALID_REQUEST',
  'the request does not fit into one etcd transaction: request fewer attachments',
);

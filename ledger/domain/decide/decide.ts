/**
 * All rules of the ledger as one pure function: from a state and a command to events or a refusal.
 * No clock, no randomness, no I/O. The events of an accepted command are applied together. A
 * refused command changes nothing.
 */
import type { Allocate, Command, DropClaims, DropHistory, SealSegment } from '../commands/command.ts';
import { allocate } from './allocate.ts';
import { bind, unbind } from './bind.ts';
import { applySubnet, retireSubnet } from './apply-subnet.ts';
import { applyPool, retirePool } from './apply-pool.ts';
import { unquarantine, quarantine } from './quarantine.ts';
import { reportConflict } from './report-conflict.ts';
import { release } from './release.ts';
import { reserve, unreserve } from './reserve.ts';
import type { AllocationRefused, Event } from '../events/event.ts';
import type { Attachment } from '../values/allocation.ts';
import { Refused, type Refusal } from '../commands/refusal.ts';
import { type State, claimOf, lastSealedSeq } from '../state/state.ts';
import { isDroppable, maxClaimsPerDrop } from '../events/claims-dropped.ts';
import { claimKey } from '../state/claim.ts';
import { historyStart } from '../values/ledger.ts';

export type Decision =
  /** `events` is empty if the state is already as requested. */
  | { readonly kind: 'accepted'; readonly events: readonly Event[] }
  /** `record` is for the log. It is not appended if the log already has the same refusal. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly record: AllocationRefused | undefined };

/** The limit of a refusal message in the log. The caller gets the whole message. */
const maxMessageLength = 2_000;

/** Decides one command. Does not change the state. */
export function decide(state: State, command: Command): Decision {
  try {
    return { kind: 'accepted', events: eventsOf(state, command) };
  } catch (thrown) {
    if (thrown instanceof Refused)
      return { kind: 'refused', refusal: thrown.refusal, record: recordOf(command, thrown.refusal) };
    throw thrown;
  }
}

/** Returns the event of a refused attachment. A late request names none, and is not recorded. */
function recordOf(command: Command, { code, message, attachment }: Refusal): AllocationRefused | undefined {
  if (command.type !== 'Allocate' || !attachment) return undefined;
  const data = { attachment, uid: command.pod.uid, reason: code, message: message.slice(0, maxMessageLength) };
  return { type: 'AllocationRefused', subnet: soleSubnetFor(attachment, command), data };
}

/** The only subnet of the request, whose history shows the refusal; '' if there are several. */
function soleSubnetFor({ provider, ordinal }: Attachment, { attachments }: Allocate): string {
  const request = attachments.find((each) => each.provider === provider && each.ordinal === ordinal);
  const [sole = '', ...others] = request?.subnets ?? [];
  return others.length === 0 ? sole : '';
}

function eventsOf(state: State, command: Command): readonly Event[] {
  switch (command.type) {
    case 'CreateLedger':
      return state.ledger === '' ? [{ type: 'LedgerCreated', subnet: '', data: { ledger: command.ledger } }] : [];
    case 'RotateKey': {
      const { publicKey, keyId, previousKeyId, signature } = command;
      return [{ type: 'KeyRotated', subnet: '', data: { publicKey, keyId, previousKeyId, signature } }];
    }
    case 'ApplySubnet':
      return applySubnet(state, command);
    case 'RetireSubnet':
      return retireSubnet(state, command);
    case 'ApplyPool':
      return applyPool(state, command);
    case 'RetirePool':
      return retirePool(state, command);
    case 'Reserve':
      return reserve(state, command);
    case 'Unreserve':
      return unreserve(state, command);
    case 'Quarantine':
      return quarantine(state, command);
    case 'Unquarantine':
      return unquarantine(state, command);
    case 'Allocate':
      return allocate(state, command);
    case 'Release':
      return release(state, command);
    case 'Bind':
      return bind(state, command);
    case 'Unbind':
      return unbind(state, command);
    case 'ReportConflict':
      return reportConflict(state, command);
    case 'RestoreLedger':
      return [{ type: 'LedgerRestored', subnet: '', data: command.restored }];
    case 'DropClaims':
      return dropClaims(state, command);
    case 'SealSegment':
      return sealSegment(state, command);
    case 'DropHistory':
      return dropHistory(state, command);
  }
}

/**
 * Whether a command may be decided while the ledger is frozen, that is, while it lacks events that
 * a client or a checkpoint has seen.
 *
 * Binds and unbinds continue. Allocations and releases stop, except for imports and releases by an
 * operator who repairs the ledger.
 */
export function isCommandAllowedWhileFrozen(command: Command): boolean {
  switch (command.type) {
    case 'CreateLedger':
    case 'RestoreLedger':
    case 'ApplySubnet':
    case 'ApplyPool':
    case 'Reserve':
    case 'Quarantine':
    case 'Bind':
    case 'Unbind':
      return true;
    case 'Allocate':
      return command.import === true;
    case 'Release':
      return command.cause === 'operator';
    default:
      return false;
  }
}

/** Skips claims in use, fenced or not idle for long enough. @throws Refused INVALID_REQUEST */
export function dropClaims(state: State, { subnet, addresses, now }: DropClaims): Event[] {
  if (addresses.length > maxClaimsPerDrop)
    throw new Refused(
      'INVALID_REQUEST',
      `${addresses.length} claims can't be dropped by one event: request at most ${maxClaimsPerDrop}`,
    );
  const droppable = [...new Set(addresses)].filter((address) => {
    const claim = claimOf(state, subnet, address);
    return claim && isDroppable(state, subnet, claim, now) && !state.fenced.has(claimKey({ subnet, address }));
  });
  if (droppable.length === 0) return [];
  return [{ type: 'ClaimsDropped', subnet, data: { addresses: droppable, previous: state.dropped.get(subnet) ?? [] } }];
}

/** @throws Refused SEGMENT_SEALED if another replica has sealed the segment */
function sealSegment(state: State, { segment }: SealSegment): Event[] {
  const sealed = lastSealedSeq(state);
  if (segment.from !== sealed + 1 || segment.to < segment.from)
    throw new Refused(
      'SEGMENT_SEALED',
      `events ${segment.from} to ${segment.to} can't be sealed: the last sealed event is ${sealed}. Begin at event ${sealed + 1}`,
    );
  return [{ type: 'SegmentSealed', subnet: '', data: segment }];
}

/** @throws Refused SEGMENT_SEALED if no segment ends there: another replica dropped it. */
function dropHistory({ segments }: State, { to, reason }: DropHistory): Event[] {
  const last = segments.find((segment) => segment.to === to && segment.dropped === undefined);
  if (!last)
    throw new Refused(
      'SEGMENT_SEALED',
      `the history can't be dropped up to event ${to}: no sealed segment ends there. It begins with event ${historyStart(segments)}`,
    );
  return [{ type: 'HistoryDropped', subnet: '', data: { to, until: last.until, hash: last.hash, reason } }];
}

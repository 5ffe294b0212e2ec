/**
 * Every rule of the ledger, as one pure function: what happens when this is asked in this state? No clock, no randomness, no
 * I/O. All or nothing: the events of an accepted command belong together; a refused one changes nothing.
 */
import type { Allocate, Command } from './command.ts';
import { allocate } from './decide/allocate.ts';
import { bind, unbind } from './decide/bind.ts';
import { applySubnet, retireSubnet } from './decide/configure.ts';
import { dropClaims } from './decide/drop.ts';
import { applyPool, retirePool } from './decide/pool.ts';
import { lift, quarantine } from './decide/quarantine.ts';
import { release } from './decide/release.ts';
import { sealSegment } from './decide/seal.ts';
import { reserve, unreserve } from './decide/reserve.ts';
import type { AllocationRefused, Attachment, Event } from './event.ts';
import { Refused, type Refusal } from './refusal.ts';
import type { State } from './state.ts';

export type Decision =
  /** No events: it is already so. */
  | { readonly kind: 'accepted'; readonly events: readonly Event[] }
  /** Nothing changes. `record` is for the log, which need not repeat one that it has. */
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly record: AllocationRefused | undefined };

/** Of a message in the log: whoever asked is told all of it. */
const mostMessageLength = 2_000;

/** Decides one command against the state, which it does not change. */
export function decide(state: State, command: Command): Decision {
  try {
    return { kind: 'accepted', events: eventsOf(state, command) };
  } catch (thrown) {
    if (thrown instanceof Refused)
      return { kind: 'refused', refusal: thrown.refusal, record: recordOf(command, thrown.refusal) };
    throw thrown;
  }
}

/** Why a Pod did not get its addresses belongs to the record; what merely came too late does not. */
function recordOf(command: Command, { code, message, attachment }: Refusal): AllocationRefused | undefined {
  if (command.type !== 'Allocate' || !attachment) return undefined;
  const data = { attachment, uid: command.pod.uid, reason: code, message: message.slice(0, mostMessageLength) };
  return { type: 'AllocationRefused', subnet: soleSubnetFor(attachment, command), data };
}

/** What was asked of one subnet belongs to that subnet's history; of several, '' is none of them. */
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
    case 'Lift':
      return lift(state, command);
    case 'Allocate':
      return allocate(state, command);
    case 'Release':
      return release(state, command);
    case 'Bind':
      return bind(state, command);
    case 'Unbind':
      return unbind(state, command);
    case 'RestoreLedger':
      return [{ type: 'LedgerRestored', subnet: '', data: command.restored }];
    case 'DropClaims':
      return dropClaims(state, command);
    case 'SealSegment':
      return sealSegment(state, command);
  }
}

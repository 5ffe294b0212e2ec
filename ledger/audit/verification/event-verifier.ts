/**
 * Checks that an event can follow the earlier events: the next number, the hash of the previous
 * event, no earlier time, part of a complete command, the right previous event for each address,
 * and a change that a command can cause.
 */
import { canonicalAddress } from '../../domain/addresses/address.ts';
import { type Sequenced } from '../../domain/events/event.ts';
import { addressesOf, brokenRule } from '../../domain/events/registry.ts';
import { claimOf, type State } from '../../domain/state/state.ts';
import type { Envelope, Head, StoredEvent } from '../../log/chain/chain.ts';
import { parseCanonicalInstant } from '../../log/chain/instant.ts';
import type { StateBeforeEvent } from '../../log/reader/fold.ts';

/** Describes the fault of an event, as a predicate; undefined for none. */
export function faultOf(past: StateBeforeEvent, event: StoredEvent): string | undefined {
  return (
    faultInChain(past.head, event) ??
    faultInTime(past.head, event) ??
    faultInCommand(past.openCommand, event.envelope) ??
    faultInBeginning(past.head, event.envelope) ??
    faultInRestoration(past.head, event.sequenced) ??
    faultInNames(event) ??
    faultInBefore(past.state, event) ??
    brokenRule(past.state, event.sequenced, event.envelope.v)
  );
}

function faultInChain(head: Head, { envelope: { seq, prev } }: StoredEvent): string | undefined {
  if (seq !== head.seq + 1) return `has the number ${seq}`;
  if (prev === head.hash) return undefined;
  return head.seq === 0
    ? `is the first event, but has ${prev} as the hash of an earlier one`
    : `does not follow event ${head.seq}: the hash of that event is ${head.hash}, but this one has ${prev}. One of both was changed`;
}

const isTime = (text: string): boolean => parseCanonicalInstant(text) !== undefined;

function faultInTime(head: Head, { envelope: { at, clock }, sequenced }: StoredEvent): string | undefined {
  if (!isTime(at)) return `has the time "${at}", which is not in the format of ipledger`;
  if (clock !== undefined && !isTime(clock))
    return `has the clock time "${clock}", which is not in the format of ipledger`;
  if (sequenced.at >= head.at) return undefined;
  return `has the time ${at}, which is before the previous event (${new Date(head.at).toISOString()})`;
}

function faultInCommand(unfinished: Envelope | undefined, { part: [part, parts], cmd }: Envelope): string | undefined {
  const [before, all] = unfinished?.part ?? [0, parts];
  if (unfinished && (cmd !== unfinished.cmd || parts !== all))
    return `begins command ${cmd}, but command ${unfinished.cmd} has only ${before} of its ${all} events`;
  return part === before + 1 && part <= parts
    ? undefined
    : `is part ${part} of ${parts} of its command, not ${before + 1}`;
}

function faultInBeginning(head: Head, { type }: Envelope): string | undefined {
  if ((type === 'LedgerCreated') === (head.seq === 0)) return undefined;
  return head.seq === 0
    ? `is ${type}, but a log begins with LedgerCreated`
    : 'is LedgerCreated, which is only the first event';
}

function faultInRestoration(head: Head, { type, data }: Sequenced): string | undefined {
  if (type !== 'LedgerRestored') return undefined;
  if (data.epoch < head.epoch) return `begins epoch ${data.epoch}, but the log is in epoch ${head.epoch}`;
  return data.seq <= head.seq ? undefined : `records a ledger that ends with event ${data.seq}, which is not before it`;
}

/**
 * Finds names that an allocator cannot load: in a key, a slash separates Subnet and address, and an
 * IPPool cannot be ''.
 */
function faultInNames({ sequenced }: StoredEvent): string | undefined {
  const { type, subnet, data } = sequenced;
  const addresses = addressesOf(sequenced);
  const namesSubnet = type === 'SubnetConfigured' || addresses.length > 0;
  if (namesSubnet && (subnet === '' || subnet.includes('/')))
    return `has no name of a Subnet that an allocator can load: ${JSON.stringify(subnet)}`;
  if (type === 'PoolConfigured' && data.pool === '') return 'has no name of an IPPool';
  const address = addresses.find((each) => canonicalAddress(each) !== each);
  return address === undefined ? undefined : `has ${JSON.stringify(address)}, which is not the text of an address`;
}

function faultInBefore(state: State, { envelope: { before }, sequenced }: StoredEvent): string | undefined {
  const addresses = addressesOf(sequenced);
  for (const address of addresses) {
    const last = claimOf(state, sequenced.subnet, address)?.last ?? 0;
    if (before[address] !== last)
      return `has event ${before[address] ?? 'none'} as the previous one of ${address}, but that is ${last}`;
  }
  const named = Object.keys(before);
  if (named.length === 1 && addresses.length === 1) return undefined;
  const others = named.filter((address) => !addresses.includes(address));
  return others.length === 0 ? undefined : `has a previous event for ${others.join(', ')}, which it does not change`;
}

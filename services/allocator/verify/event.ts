/**
 * Whether an event is what must follow: the next number, chained to the bytes before it, not earlier, part of a whole command,
 * naming the event before it for each address, and nothing that no command leads to.
 */
import { addressesOf, type Sequenced } from '../domain/event.ts';
import { claimOf, type State } from '../domain/state.ts';
import type { Envelope, Head, StoredEvent } from '../ledger/chain.ts';
import type { Past } from '../ledger/fold.ts';
import { brokenRule } from './rules.ts';

/** What is wrong with an event, as a sentence without its subject; undefined when nothing is. */
export function faultOf(past: Past, event: StoredEvent): string | undefined {
  return (
    faultInChain(past.head, event) ??
    faultInTime(past.head, event.envelope) ??
    faultInCommand(past.unfinished, event.envelope) ??
    faultInBeginning(past.head, event.envelope) ??
    faultInRestoration(past.head, event.sequenced) ??
    faultInBefore(past.state, event) ??
    brokenRule(past.state, event.sequenced, event.envelope.v)
  );
}

function faultInChain(head: Head, { envelope: { seq, prev } }: StoredEvent): string | undefined {
  if (seq !== head.seq + 1) return `says that it is event ${seq}, where ${head.seq + 1} stands`;
  if (prev === head.hash) return undefined;
  return head.seq === 0
    ? `is the first, and names ${prev} before it`
    : `does not follow event ${head.seq}: that one's bytes hash to ${head.hash}, and it names ${prev}. One of the two is not as it was written`;
}

const isInstant = (text: string): boolean => {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString() === text;
};

function faultInTime(head: Head, { at, clock }: Envelope): string | undefined {
  if (!isInstant(at)) return `has "${at}" for its time, which is not as ipledger writes it`;
  if (clock !== undefined && !isInstant(clock))
    return `has "${clock}" for its clock, which is not as ipledger writes it`;
  if (Date.parse(at) >= head.at) return undefined;
  return `happened at ${at}, and the event before it at ${new Date(head.at).toISOString()}`;
}

function faultInCommand(unfinished: Envelope | undefined, { part: [part, parts], cmd }: Envelope): string | undefined {
  const [before, all] = unfinished?.part ?? [0, parts];
  if (unfinished && (cmd !== unfinished.cmd || parts !== all))
    return `begins command ${cmd}, and of command ${unfinished.cmd} only ${before} of ${all} events are there`;
  return part === before + 1 && part <= parts
    ? undefined
    : `is part ${part} of ${parts} of its command, not ${before + 1}`;
}

function faultInBeginning(head: Head, { type }: Envelope): string | undefined {
  if ((type === 'LedgerCreated') === (head.seq === 0)) return undefined;
  return head.seq === 0 ? `is ${type}: a log begins with LedgerCreated` : 'is LedgerCreated, which only the first is';
}

function faultInRestoration(head: Head, { type, data }: Sequenced): string | undefined {
  if (type !== 'LedgerRestored') return undefined;
  if (data.epoch < head.epoch) return `begins epoch ${data.epoch}, and this is epoch ${head.epoch}`;
  return data.seq <= head.seq ? undefined : `was found to end with event ${data.seq}, which is not before it`;
}

function faultInBefore(state: State, { envelope: { before }, sequenced }: StoredEvent): string | undefined {
  const addresses = addressesOf(sequenced);
  for (const address of addresses) {
    const last = claimOf(state, sequenced.subnet, address)?.last ?? 0;
    if (before[address] !== last)
      return `names event ${before[address] ?? 'none'} as the one before for ${address}, and that is ${last}`;
  }
  const others = Object.keys(before).filter((address) => !addresses.includes(address));
  return others.length === 0 ? undefined : `names an event before for ${others.join(', ')}, which it does not touch`;
}

/** What the suites of the ledger's contract are about, and what they append. */
import { allocated, subnetConfigured } from '../domain/specification.ts';
import type { Event } from '../domain/event.ts';
import type { Head } from './chain.ts';
import { claimText } from './keys.ts';
import type { Appended, Batch, Brake, Ledger, Revision, SealedLog } from './ledger.ts';
import { batchOf } from './specification.ts';

/** An adapter on an empty store, with a way past the rules, as somebody with etcdctl has. */
export interface LedgerUnderTest {
  readonly ledger: Ledger & SealedLog & Brake;
  put(key: string, text: string): Promise<void>;
  /** Everything that is stored. */
  everything(): Promise<Record<string, string>>;
  /** The create revision of a key. */
  created(key: string): Promise<Revision>;
}

export const name = { subnet: 'macvlan', address: '172.17.0.11' };
export const claim = { last: 2, lastAt: 1_000, networks: ['macvlan.default'], bindings: [] };
export const created = { type: 'LedgerCreated', subnet: '', data: { ledger: '01J00000000000000000000000' } } as const;
export const given: Event = allocated('samplepod', name.address);
export const configured = subnetConfigured();
export const specText = JSON.stringify(configured.data);

/** One allocation, of an address whose key was last written at `known`. */
export const allocation = (before: Head, known: Revision): Batch =>
  batchOf(before, [given], { claims: [{ name, text: claimText({ ...claim, last: before.seq + 1 }), known }] });

/** Appends what must succeed. */
export async function appended(ledger: Ledger, batch: Batch): Promise<Extract<Appended, { kind: 'appended' }>> {
  const outcome = await ledger.append(batch);
  if (outcome.kind !== 'appended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

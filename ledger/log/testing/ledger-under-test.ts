/**
 * Fixtures of the ledger contract: the store under test, and the batches that the suites append.
 */
import { allocated, subnetConfigured } from '../../domain/testing/event-fixtures.ts';
import type { Event } from '../../domain/events/event.ts';
import type { Head } from '../chain/chain.ts';
import { claimText } from '../store/stored-values.ts';
import type { AppendOutcome, Batch, FreezeStore, Ledger, Revision, SealedLog } from '../store/ledger.ts';
import { batchOf } from './running-writer.ts';

/** A ledger on an empty store. */
export interface LedgerUnderTest {
  readonly ledger: Ledger & SealedLog & FreezeStore;
  /** Writes a key unchecked, as etcdctl does. */
  put(key: string, text: string): Promise<void>;
  /** All keys with their values. */
  everything(): Promise<Record<string, string>>;
  /** The create revision of a key. */
  created(key: string): Promise<Revision>;
}

export const name = { subnet: 'macvlan', address: '172.17.0.11' };
export const claim = { last: 2, lastAt: 1_000, networks: ['macvlan.default'], bindings: [] };
export const created = { type: 'LedgerCreated', subnet: '', data: { ledger: '01J00000000000000000000000' } } as const;
export const allocatedEvent: Event = allocated('samplepod', name.address);
export const configured = subnetConfigured();
export const specText = JSON.stringify(configured.data);

/** A batch that allocates one address, whose key has the given revision. */
export const allocation = (before: Head, knownRevision: Revision): Batch =>
  batchOf(before, [allocatedEvent], {
    claims: [{ name, text: claimText({ ...claim, last: before.seq + 1 }), knownRevision }],
  });

/** Appends a batch, which must succeed. */
export async function appended(ledger: Ledger, batch: Batch): Promise<Extract<AppendOutcome, { kind: 'appended' }>> {
  const outcome = await ledger.append(batch);
  if (outcome.kind !== 'appended') throw new Error(JSON.stringify(outcome));
  return outcome;
}

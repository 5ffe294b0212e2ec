import { expect } from 'chai';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import type { LedgerClient } from '../../../lib/ledger-client/ledger-client.ts';
import { readSnapshot } from './read-snapshot.ts';

const position = (seq: number) => ({ epoch: 1, seq, hash: `hash-${seq}` });
const read = (allocator: LedgerClient) => readSnapshot(allocator, new AbortController().signal);

/**
 * Makes a ledger with one page per entry: the position of the page and the numbers of its
 * allocations.
 */
const ledgerOf = (pages: readonly (readonly [at: number, ...seqs: number[]])[], subnetsAt: number) =>
  fakeLedgerClient({
    getStatus: () => ({ ledger: '01LEDGER' }),
    listAllocations: ({ pageToken }) => {
      const index = Number(pageToken);
      const [at = 0, ...seqs] = pages[index] ?? [];
      const nextPageToken = index + 1 < pages.length ? String(index + 1) : '';
      return { position: position(at), allocations: seqs.map((seq) => ({ seq })), nextPageToken };
    },
    listSubnets: () => ({ position: position(subnetsAt), subnets: [{ name: 'lan' }] }),
  });

describe('The snapshot of the ovn-projector', () => {
  it('The snapshot has the id of the ledger, its Subnets, and each allocation once, also if two pages have it', async () => {
    const { ledger, subnets, allocations } = await read(ledgerOf([[10, 3, 5], [12, 5, 9], [12]], 12));
    expect(ledger).to.equal('01LEDGER');
    expect(subnets.map(({ name }) => name)).to.deep.equal(['lan']);
    expect(allocations.map(({ seq }) => seq)).to.deep.equal([3, 5, 9]);
  });

  it('The snapshot has the position of its first page, and the highest event number of all pages', async () => {
    expect(await read(ledgerOf([[10], [12]], 11))).to.deep.include({ first: position(10), lastSeq: 12 });
    expect(await read(ledgerOf([[10]], 13))).to.deep.include({ first: position(10), lastSeq: 13 });
  });
});

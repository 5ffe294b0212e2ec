import { expect } from 'chai';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import type { MapState } from '../../../proto/generated/ipledger.ts';
import type { AddressMap, StateCounts } from '../api/address-map.ts';
import { Query } from '../http/query.ts';
import { createLedgerReads } from '../ledger/ledger-reads.ts';
import { showMap } from './address-map.ts';

const moment = { seq: 9, at: '2026-01-01T00:00:00Z' };
const number = (address: string): number => address.split('.').reduce((value, part) => value * 256 + Number(part), 0);

/** Returns a function that shows a part of the map of this Subnet. */
function mapOf(excludeIps: string[], claims: readonly (readonly [address: string, state: MapState])[]) {
  const readModel = fakeLedgerClient({
    mapAddresses: () => ({
      position: { epoch: 1, seq: 9, hash: 'h' },
      spec: { cidrBlock: '10.64.0.0/15', gateway: '10.64.0.1', excludeIps },
      moment,
      first: moment,
      last: moment,
      ipv4: claims.map(([address]) => number(address)),
      states: claims.map(([, state]) => state),
    }),
  });
  const show = showMap(createLedgerReads(fakeLedgerClient({}), readModel));
  return async (range = ''): Promise<AddressMap> => {
    const query = new Query(new URLSearchParams({ range }));
    const { body } = await show({ params: { name: 'lan' }, query, signal: new AbortController().signal });
    return body as AddressMap;
  };
}

describe('The map of a Subnet of more than 65,536 addresses', () => {
  it('The map of a Subnet of more than 65,536 addresses has the counts of its cells for each block', async () => {
    const map = mapOf(
      ['10.64.0.0..10.64.0.9', '10.64.255.250..10.65.0.5', '10.65.255.255'],
      [
        ['10.64.0.1', 'MAP_STATE_QUARANTINED'],
        ['10.64.0.5', 'MAP_STATE_RESERVED'],
        ['10.64.0.20', 'MAP_STATE_BOUND'],
        ['10.65.0.5', 'MAP_STATE_RESTING'],
        ['10.65.0.6', 'MAP_STATE_ALLOCATED'],
      ],
    );
    const { blocks = [], counts } = await map();
    expect(blocks.map(({ cidr }) => cidr)).to.deep.equal(['10.64.0.0/16', '10.65.0.0/16']);
    for (const block of blocks) expect((await map(block.cidr)).counts, block.cidr).to.deep.equal(block.counts);
    expect(counts).to.deep.equal({
      free: 131_072 - 25,
      allocated: 1,
      bound: 1,
      resting: 1,
      reserved: 1,
      quarantined: 1,
      excluded: 20,
      gateway: 0,
    } satisfies StateCounts);
  });
});

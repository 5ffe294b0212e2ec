import { expect } from 'chai';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import type { AlarmList } from '../api/alarm.ts';
import { Query } from '../http/query.ts';
import { createLedgerReads } from '../ledger/ledger-reads.ts';
import { listAlarms } from './alarms.ts';

const position = { epoch: 1, seq: 9, hash: 'h' };

describe('The alarms of the console', () => {
  it('name MAC, node and reason of a quarantine, for the first sixteen of them', async () => {
    const read: string[] = [];
    const quarantine = { seenMac: '52:54:00:12:34:56', seenAt: 'node-1', reason: 'it answered a probe', at: 'T' };
    const allocator = fakeLedgerClient({
      getStatus: () => ({ position }),
      listSubnets: () => ({ position, subnets: [] }),
      getAddress: ({ subnet = '', address = '' }) => {
        read.push(address);
        return { record: { subnet, address, ...(address === '10.0.0.0' && { quarantine }) } };
      },
    });
    const quarantined = Array.from({ length: 100 }, (_, index) => ({ subnet: 'lan', address: `10.0.0.${index}` }));
    const readModel = fakeLedgerClient({ listUsage: () => ({ position, quarantined }), history: () => ({ position }) });
    const view = listAlarms(createLedgerReads(allocator, readModel), () => []);
    const query = new Query(new URLSearchParams());
    const { items } = (await view({ params: {}, query, signal: new AbortController().signal })).body as AlarmList;
    expect(items.map(({ address }) => address)).to.deep.equal(quarantined.map(({ address }) => address));
    expect(items[0]).to.include({
      since: 'T',
      message:
        '10.0.0.0 of subnet lan is quarantined: 52:54:00:12:34:56 answers on it, seen at node-1; it answered a probe',
    });
    expect(items[20]?.message).to.match(/another host answers on it, or an operator keeps it from Pods$/);
    expect(read).to.have.length(16);
  });
});

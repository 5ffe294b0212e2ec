import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import { type FakeLedger, fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import type { Alarm, AlarmList } from '../api/alarm.ts';
import { Query } from '../http/query.ts';
import { createLedgerReads } from '../ledger/ledger-reads.ts';
import { listAlarms } from './alarms.ts';

const position = { epoch: 1, seq: 9, hash: 'h' };

/** Lists the alarms while these addresses of Subnet lan are quarantined. */
async function alarmsOf(
  addresses: readonly string[],
  getAddress: NonNullable<FakeLedger['getAddress']>,
): Promise<readonly Alarm[]> {
  const quarantined = addresses.map((address) => ({ subnet: 'lan', address }));
  const getStatus = () => ({ position });
  const allocator = fakeLedgerClient({ getStatus, listSubnets: () => ({ position, subnets: [] }), getAddress });
  const readModel = fakeLedgerClient({ listUsage: () => ({ position, quarantined }), history: () => ({ position }) });
  const view = listAlarms(createLedgerReads(allocator, readModel), () => []);
  const query = new Query(new URLSearchParams());
  const { body } = await view({ params: {}, query, signal: new AbortController().signal });
  return (body as AlarmList).items;
}

describe('The alarms of the console', () => {
  it('The alarms of the console name MAC, node and reason of a quarantine, for the first sixteen of them', async () => {
    const read: string[] = [];
    const quarantine = { seenMac: '52:54:00:12:34:56', seenAt: 'node-1', reason: 'it answered a probe', at: 'T' };
    const addresses = Array.from({ length: 100 }, (_, index) => `10.0.0.${index}`);
    const items = await alarmsOf(addresses, ({ subnet = '', address = '' }) => {
      read.push(address);
      return { record: { subnet, address, ...(address === '10.0.0.0' && { quarantine }) } };
    });
    expect(items.map(({ address }) => address)).to.deep.equal(addresses);
    expect(items[0]).to.include({
      since: 'T',
      message:
        '10.0.0.0 of subnet lan is quarantined: 52:54:00:12:34:56 answers on it, seen at node-1; it answered a probe',
    });
    expect(items[20]?.message).to.match(/another host answers on it, or an operator keeps it from Pods$/);
    expect(read).to.have.length(16);
  });

  it('The alarms of the console list a quarantine whose address cannot be read', async () => {
    const overloaded = new IpledgerError('OVERLOADED', 'too many calls');
    const items = await alarmsOf(['10.0.0.1'], () => Promise.reject(overloaded));
    expect(items.map(({ address }) => address)).to.deep.equal(['10.0.0.1']);
  });
});

import { expect } from 'chai';
import { decode, encode } from './codec.ts';
import { applyEventTable, type EventTable } from './event-table.ts';
import type { Event } from './generated/ipledger.ts';

describe('applyEventTable', () => {
  const table = new Proxy({} as EventTable<string>, {
    ownKeys: () => ['poolRetired', 'subnetRetired'],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    get: (_, field) => (data: object, event: Event) => `${String(field)} ${JSON.stringify(data)} ${event.seq}`,
  });
  const decoded = (fields: object): Event => decode('Event', encode('Event', { seq: 7, ...fields })) as Event;

  it('applyEventTable calls the entry for the data of a decoded event, with the event', () => {
    expect(applyEventTable(table, decoded({ poolRetired: { pool: 'blue' } }))).to.equal(
      'poolRetired {"pool":"blue"} 7',
    );
    expect(applyEventTable(table, decoded({ subnetRetired: {} }))).to.equal('subnetRetired {} 7');
  });

  it('applyEventTable returns undefined for an event of a type that the table does not have', () => {
    expect(applyEventTable(table, decoded({ type: 'AddressTeleported' }))).to.equal(undefined);
  });
});

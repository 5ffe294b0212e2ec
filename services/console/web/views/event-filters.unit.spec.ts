import { expect } from 'chai';
import type { EventRow } from '../../api/event.ts';
import { eventMatches, listQuery, streamQuery } from './event-filters.ts';

const event: EventRow = {
  seq: 7,
  at: '2026-11-17T14:05:00.000Z',
  type: 'AddressBound',
  actor: 'ipledger://node/node-1',
  subnet: 'lan',
  addresses: ['10.8.0.5'],
  pod: { namespace: 'shop', name: 'web-0', uid: 'u' },
  node: 'node-1',
  cause: '',
  text: '',
  before: {},
};

describe('The filters of the events', () => {
  it('The filters of the events send a Pod to the list only with its namespace', () => {
    expect(listQuery({ pod: 'web-0', subnet: 'lan' })).to.deep.equal({ subnet: 'lan' });
    expect(listQuery({ pod: 'web-0', namespace: 'shop' })).to.deep.equal({ namespace: 'shop', pod: 'web-0' });
  });

  it('The filters of the events send an owner in the form of the command line as three fields', () => {
    const fields = { namespace: 'shop', ownerKind: 'StatefulSet', owner: 'web' };
    expect(listQuery({ owner: 'shop/StatefulSet/web' })).to.deep.equal(fields);
    expect(listQuery({ owner: 'Node/node-1' })).to.deep.equal({ ownerKind: 'Node', owner: 'node-1' });
  });

  it('The filters of the events follow new events, except those of an owner or up to a time', () => {
    expect(streamQuery({ type: 'AddressBound', since: '2026-01-01T00:00:00Z' })).to.deep.equal({
      type: 'AddressBound',
    });
    expect(streamQuery({ owner: 'shop/web' })).to.equal(undefined);
    expect(streamQuery({ until: '2026-01-01T00:00:00Z' })).to.equal(undefined);
  });

  it('The filters of the events apply the filters on the page that the list lacks', () => {
    expect(eventMatches(event, {})).to.equal(true);
    expect(eventMatches(event, { namespace: 'shop', type: 'AddressBound', actor: event.actor })).to.equal(true);
    for (const other of [
      { namespace: 'web' },
      { pod: 'web-1' },
      { type: 'AddressUnbound' },
      { actor: 'kubernetes:eve' },
    ])
      expect(eventMatches(event, other), JSON.stringify(other)).to.equal(false);
    expect(eventMatches({ ...event, pod: null }, { namespace: 'shop' })).to.equal(false);
  });
});

import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { fakeLedgerClient } from '../../../lib/ledger-client/testing/fake-ledger-client.ts';
import type { View } from '../http/routes.ts';
import { Query } from '../http/query.ts';
import { showMap, showMoments } from '../views/address-map.ts';
import { showAddress } from '../views/addresses.ts';
import { listEvents } from '../views/events.ts';
import { createLedgerReads } from './ledger-reads.ts';

const moment = { seq: 9, at: '2026-01-01T00:00:00Z' };
const position = { epoch: 1, seq: 9, hash: 'h' };
const spec = { cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1' };
const staying = new AbortController().signal;

const read = (view: View, params: Readonly<Record<string, string>>, query: Readonly<Record<string, string>> = {}) =>
  view({ params, query: new Query(new URLSearchParams(query)), signal: staying });

describe('The reads of the console', () => {
  it('The reads of the console read one map of the past for all spellings of a time, and none for the events of an address', async () => {
    const calls: unknown[] = [];
    const readModel = fakeLedgerClient({
      mapAddresses: (request) => {
        calls.push(request);
        return { position, spec, moment, first: moment, last: moment };
      },
    });
    const reads = createLedgerReads(fakeLedgerClient({}), readModel);
    const spellings = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.0Z', '2026-01-02T04:04:05.000+01:00'];
    for (const at of spellings) await read(showMap(reads), { name: 'lan' }, { at });
    expect(calls).to.have.length(1);
    for (const address of ['10.0.0.5', '10.0.0.6'])
      await read(showMoments(reads), { name: 'lan' }, { address, seq: '5' });
    expect(calls.slice(1)).to.satisfy((requests: { onlyMoments: boolean }[]) =>
      requests.every(({ onlyMoments }) => onlyMoments),
    );
  });

  it('The reads of the console read at most two maps at a time, for all people together', async () => {
    let [inProgress, most] = [0, 0];
    const readModel = fakeLedgerClient({
      mapAddresses: async () => {
        most = Math.max(most, ++inProgress);
        await setImmediate();
        inProgress--;
        return { position, spec, moment, first: moment, last: moment };
      },
    });
    const view = showMap(createLedgerReads(fakeLedgerClient({}), readModel));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => read(view, { name: 'lan' }, { seq: String(index + 1) })),
    );
    expect(most).to.equal(2);
  });

  it('The reads of the console read the history of an address once for all who look at it, until it is changed', async () => {
    const sizes: unknown[] = [];
    const allocator = fakeLedgerClient({
      listSubnets: () => ({ position, subnets: [] }),
      history: ({ pageSize }) => {
        sizes.push(pageSize);
        return { position, events: [] };
      },
    });
    const reads = createLedgerReads(allocator, fakeLedgerClient({}));
    await Promise.all(Array.from({ length: 5 }, () => read(showAddress(reads), { address: '10.0.0.5' })));
    expect(sizes).to.deep.equal([50]);
    await Promise.all(Array.from({ length: 5 }, () => read(listEvents(reads), {}, { address: '10.0.0.5' })));
    expect(sizes).to.deep.equal([50, 50]);
    reads.forgetAddresses();
    await read(showAddress(reads), { address: '10.0.0.5' });
    expect(sizes).to.deep.equal([50, 50, 50]);
  });

  it('The reads of the console read at most 50 events of an address for a page', async () => {
    const reads = createLedgerReads(fakeLedgerClient({}), fakeLedgerClient({}));
    for (const view of [showAddress, listEvents]) {
      const page = read(view(reads), { address: '10.0.0.5' }, { address: '10.0.0.5', limit: '51' });
      expect(await page.catch((error: unknown) => (error as Error).message)).to.match(/whole number from 1 to 50$/);
    }
  });
});

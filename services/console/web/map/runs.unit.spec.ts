import { expect } from 'chai';
import { type AddressMap, type CellState, cellStates } from '../../api/address-map.ts';
import { parseCidr } from '../../../../ledger/domain/addresses/address.ts';
import { pageOf } from './page.ts';
import { runsOf } from './runs.ts';

const block = parseCidr('10.8.0.0/29') ?? { family: 4 as const, base: 0n, prefix: 29 };
const rows = (map: Partial<AddressMap>, cidr = block): string[] =>
  runsOf(pageOf(map as AddressMap, cidr)).map(({ first, last, state, count }) => `${first} ${last} ${state} ${count}`);

describe('The table of an address map', () => {
  it('The table of an address map has a row for each run of addresses of one state, and none for free ones', () => {
    const states: CellState[] = ['excluded', 'gateway', 'bound', 'bound', 'free', 'free', 'bound', 'excluded'];
    const cells = btoa(String.fromCharCode(...states.map((state) => cellStates.indexOf(state))));
    expect(rows({ cidr: '10.8.0.0/29', cells })).to.deep.equal([
      '10.8.0.0 10.8.0.0 excluded 1',
      '10.8.0.1 10.8.0.1 gateway 1',
      '10.8.0.2 10.8.0.3 bound 2',
      '10.8.0.6 10.8.0.6 bound 1',
      '10.8.0.7 10.8.0.7 excluded 1',
    ]);
  });

  it('The table of an address map does not join IPv6 addresses with free ones between them', () => {
    const used = ['fd00::2', 'fd00::3', 'fd00::5'].map((address) => ({ address, state: 'bound' as const }));
    expect(rows({ used })).to.deep.equal(['fd00::2 fd00::3 bound 2', 'fd00::5 fd00::5 bound 1']);
  });
});

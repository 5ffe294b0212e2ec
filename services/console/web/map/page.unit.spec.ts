import { expect } from 'chai';
import { type AddressMap, type CellState, cellStates } from '../../api/address-map.ts';
import { type Cidr, formatCidr, parseCidr } from '../../../../ledger/domain/addresses/address.ts';
import { countStates, type Page, pageOf, parentOf, sharesOf } from './page.ts';

const cidr = (text: string): Cidr => parseCidr(text) as Cidr;
const moment = { seq: 1, at: '2026-01-01T00:00:00.000Z' };
const mapOf = (range: string, content: Pick<AddressMap, 'cells' | 'blocks' | 'used'>): AddressMap => ({
  position: { epoch: 1, seq: 1 },
  command: '',
  subnet: 'lan',
  family: range.includes(':') ? 6 : 4,
  cidr: range,
  gateway: '',
  moment,
  previous: null,
  next: null,
  first: moment,
  last: moment,
  counts: countStates(new Uint8Array()),
  ...content,
});
/** A map with the cells of a range, all free but those of `states` by their offset. */
function cellsOf(range: string, states: Readonly<Record<number, CellState>> = {}): AddressMap {
  const cells = new Uint8Array(2 ** (32 - cidr(range).prefix));
  for (const [offset, state] of Object.entries(states)) cells[Number(offset)] = cellStates.indexOf(state);
  return mapOf(range, { cells: btoa(String.fromCharCode(...cells)) });
}
const whole = (map: AddressMap): Page => pageOf(map, cidr(map.cidr));
const countsAt = (page: Page, index: number): Partial<Record<CellState, number>> =>
  Object.fromEntries(Object.entries(page.cell(index).counts).filter(([, count]) => count > 0));

describe('A page of the address map', () => {
  it('A page of the address map has one cell for each address of a block of at most 256', () => {
    const page = whole(cellsOf('10.8.0.0/24', { 7: 'bound' }));
    expect([page.count, page.isOfAddresses]).to.deep.equal([256, true]);
    expect(page.cell(7)).to.include({ name: '10.8.0.7', label: '7' });
    expect(countsAt(page, 7)).to.deep.equal({ bound: 1 });
    expect(whole(cellsOf('10.8.0.16/28')).cell(15).name).to.equal('10.8.0.31');
    expect(whole(cellsOf('10.8.0.7/32')).count).to.equal(1);
  });

  it('A page of the address map has one cell for each /24 of a block of at most 65,536 addresses', () => {
    const page = whole(cellsOf('10.8.0.0/16', { 1: 'gateway', 770: 'reserved', 771: 'bound' }));
    expect([page.count, page.isOfAddresses, page.cell(255).name]).to.deep.equal([256, false, '10.8.255.0/24']);
    expect(countsAt(page, 3)).to.deep.equal({ free: 254, reserved: 1, bound: 1 });
    expect(cellStates[page.parts[770] ?? 0]).to.equal('reserved');
    expect(whole(cellsOf('10.8.0.0/22')).count).to.equal(4);
  });

  it('A page of the address map shows a block inside the range of its map', () => {
    const page = pageOf(cellsOf('10.8.0.0/16', { 770: 'reserved' }), cidr('10.8.3.0/24'));
    expect([page.count, page.cell(2).name]).to.deep.equal([256, '10.8.3.2']);
    expect(countsAt(page, 2)).to.deep.equal({ reserved: 1 });
  });

  it('A page of the address map has one cell for each block of a larger range', () => {
    const counts = { ...countStates(new Uint8Array()), free: 3_000, bound: 1_096 };
    const page = whole(mapOf('10.0.0.0/12', { blocks: [{ cidr: '10.0.0.0/20', counts }] }));
    expect([page.count, page.isOfAddresses, page.cell(0).name]).to.deep.equal([1, false, '10.0.0.0/20']);
    expect(countsAt(page, 0)).to.deep.equal({ free: 3_000, bound: 1_096 });
  });

  it('A page of the address map has one cell for each used address of IPv6', () => {
    const used = [
      { address: 'fd00::2', state: 'bound' },
      { address: 'fd00::ff:0', state: 'resting' },
    ] as const;
    const page = whole(mapOf('fd00::/64', { used }));
    expect([page.count, page.isOfAddresses]).to.deep.equal([2, true]);
    expect(page.cell(1)).to.include({ name: 'fd00::ff:0', label: '0' });
    expect([page.indexOf('fd00::ff:0'), page.indexOf('fd00::3'), page.indexOf('10.0.0.1')]).to.deep.equal([1, -1, -1]);
  });

  it('A page of the address map finds the cell of an address and of a block, and no cell for an address outside', () => {
    const page = whole(cellsOf('10.8.0.0/16'));
    const found = ['10.8.7.200', '10.8.7.0/24', '10.9.0.0', '10.7.255.255', 'x', ''].map((name) => page.indexOf(name));
    expect(found).to.deep.equal([7, 7, -1, -1, -1, -1]);
  });

  it('A page of the address map leads back, step by step, to the whole Subnet', () => {
    const back = (block: string, subnet: string): string => {
      const parent = parentOf(cidr(block), cidr(subnet));
      return parent ? formatCidr(parent) : '';
    };
    expect(back('10.9.3.0/24', '10.0.0.0/8')).to.equal('10.9.0.0/16');
    expect(back('10.9.0.0/16', '10.0.0.0/8')).to.equal('10.0.0.0/8');
    expect(back('10.31.240.0/20', '10.16.0.0/12')).to.equal('10.16.0.0/12');
    expect(back('10.8.3.0/24', '10.8.0.0/16')).to.equal('10.8.0.0/16');
    expect(back('10.8.0.0/16', '10.8.0.0/16')).to.equal('');
  });
});

describe('The parts of a block of which only counts are known', () => {
  const of = (counts: Partial<Record<CellState, number>>): Partial<Record<CellState, number>> =>
    Object.fromEntries(
      Object.entries(countStates(sharesOf({ ...countStates(new Uint8Array()), ...counts }))).filter(([, n]) => n > 0),
    );

  it('The parts of a block of which only counts are known have the share of each state', () => {
    expect(of({ free: 3_072, bound: 1_024 })).to.deep.equal({ free: 192, bound: 64 });
    expect(of({ bound: 4_096 })).to.deep.equal({ bound: 256 });
    expect(of({})).to.deep.equal({ free: 256 });
  });

  it('The parts of a block of which only counts are known include a state that only one of many addresses has', () => {
    expect(of({ free: 65_535, quarantined: 1 })).to.deep.equal({ free: 255, quarantined: 1 });
    expect(of({ bound: 65_535, quarantined: 1 })).to.deep.equal({ bound: 255, quarantined: 1 });
  });
});

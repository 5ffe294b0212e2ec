import { expect } from 'chai';
import { CliError } from '../cli-error.ts';
import { maxSourceAddresses } from './source-address.ts';
import { parseWhereabouts } from './whereabouts.ts';

const all = (): boolean => true;
const pool = (name: string, range: string, allocations: object) => ({
  metadata: { namespace: 'kube-system', name },
  spec: { range, allocations },
});
const allocation = (podref: string, more: object = {}) => ({ id: 'c0ffee', podref, ifname: 'net1', ...more });
const reservation = (name: string, podref: string) => ({
  metadata: { namespace: 'kube-system', name },
  spec: { podref, containerid: 'c0ffee' },
});
const kindsOf = ({ conflicts }: ReturnType<typeof parseWhereabouts>): string[] =>
  conflicts.map(({ kind, where }) => `${kind}: ${where}`);

describe('parseWhereabouts', () => {
  it('parseWhereabouts adds the offset of an allocation to the address of the range', () => {
    const { addresses, conflicts } = parseWhereabouts(
      {
        pools: [
          pool('10.8.0.0-16', '10.8.0.0/16', { 258: allocation('default/web') }),
          pool('lan-10.9.0.16-24', '10.9.0.16/24', { 2: allocation('default/db-0', { ifname: undefined }) }),
          pool('fd00---64', 'fd00::/64', { '18446744073709551615': allocation('default/web') }),
        ],
        reservations: [],
      },
      all,
    );
    expect(conflicts).to.deep.equal([]);
    expect(addresses.map(({ network, address, interface: name }) => [network, address, name])).to.deep.equal([
      ['10.8.0.0-16', '10.8.1.2', 'net1'],
      ['lan-10.9.0.16-24', '10.9.0.18', ''],
      ['fd00---64', 'fd00::ffff:ffff:ffff:ffff', 'net1'],
    ]);
    expect(addresses[0]?.holder).to.deep.equal({ by: 'pod', namespace: 'default', name: 'web' });
  });

  it('parseWhereabouts reports an allocation that it cannot parse', () => {
    const broken = {
      256: allocation('default/outside'),
      '-1': allocation('default/negative'),
      x: allocation('default/text'),
      4: allocation('web'),
      5: allocation('default/web', { id: 'x'.repeat(257) }),
      6: allocation('default/web', { ifname: 'x'.repeat(16) }),
      7: 'text',
    };
    const parsed = parseWhereabouts({ pools: [pool('p', '10.8.0.0/24', broken)], reservations: [] }, all);
    expect(parsed.addresses).to.deep.equal([]);
    expect(kindsOf(parsed)).to.deep.equal(Array(7).fill('invalid entry: IPPool kube-system/p'));
    const badRange = parseWhereabouts(
      { pools: [pool('p', '10.8.0.0', { 1: allocation('a/b') })], reservations: [] },
      all,
    );
    expect(kindsOf(badRange)).to.deep.equal(['invalid entry: IPPool kube-system/p']);
  });

  it('parseWhereabouts reports an address of an IPAMClaim', () => {
    const claimed = { 4: allocation('default/vm', { ipamclaimref: 'default/vm.net1' }) };
    const parsed = parseWhereabouts({ pools: [pool('p', '10.8.0.0/24', claimed)], reservations: [] }, all);
    expect(kindsOf(parsed)).to.deep.equal(['persistent address: IPPool kube-system/p']);
    expect(parsed.addresses).to.deep.equal([]);
  });

  it('parseWhereabouts reports a reservation for another Pod than the allocation', () => {
    const pools = [
      pool('one', '10.8.0.0/24', { 3: allocation('default/web') }),
      pool('fd', 'fd00::/64', { 0: allocation('default/web'), 3: allocation('default/web') }),
    ];
    const check = (...reservations: object[]): string[] =>
      kindsOf(parseWhereabouts({ pools, reservations: reservations as never[] }, all));
    const same = 'default/web';
    expect(
      check(
        reservation('10.8.0.3', same),
        reservation('fd00--3', same),
        reservation('fd00--0', same),
        reservation('lan-fd00--3', same),
        reservation('10.8.0.99', 'default/stale'),
      ),
    ).to.deep.equal([]);
    expect(check(reservation('10.8.0.3', 'default/other'))).to.deep.equal([
      'entry and reservation: OverlappingRangeIPReservation kube-system/10.8.0.3',
    ]);
    expect(check(reservation('lan-fd00--0', 'default/other'))).to.have.length(1);
  });

  it('parseWhereabouts parses the selected IPPools only', () => {
    const pools = [
      pool('one', '10.8.0.0/24', { 3: allocation('default/a'), x: allocation('default/a') }),
      pool('two', '10.8.0.0/24', { 3: allocation('default/b') }),
    ];
    const reservations = [reservation('one-10.8.0.3', 'default/a'), reservation('two-10.8.0.3', 'default/b')];
    const parsed = parseWhereabouts({ pools, reservations }, (name) => name === 'two');
    expect(parsed.conflicts).to.deep.equal([]);
    expect([...parsed.networks]).to.deep.equal(['one', 'two']);
    expect(parsed.addresses.map(({ network }) => network)).to.deep.equal(['two']);
  });

  it('parseWhereabouts refuses more objects than an import can have', () => {
    const allocations = Object.fromEntries(Array.from({ length: maxSourceAddresses + 1 }, (_, index) => [index, null]));
    expect(() => parseWhereabouts({ pools: [pool('p', '10.0.0.0/8', allocations)], reservations: [] }, all)).to.throw(
      CliError,
      'allocations in IPPools',
    );
    expect(() =>
      parseWhereabouts({ pools: Array.from({ length: 20_001 }, () => ({})), reservations: [] }, all),
    ).to.throw(CliError, '20001 IPPools');
  });
});

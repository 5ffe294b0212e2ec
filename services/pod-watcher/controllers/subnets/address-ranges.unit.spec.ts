import { expect } from 'chai';
import type { FamilyInterval } from '../../../../ledger/domain/state/exclude-ips.ts';
import { firstUncovered, parseRanges } from './kube-ovn-subnets.ts';

describe('Ranges of addresses', () => {
  for (const [ranges, covers, expected] of [
    [['10.0.0.2..10.0.0.9'], ['10.0.0.6..10.0.0.9', '10.0.0.1..10.0.0.5'], undefined],
    [['10.0.0.2..10.0.0.9'], ['10.0.0.1..10.0.0.4', '10.0.0.6..10.0.0.9'], '10.0.0.2..10.0.0.9'],
    [['10.0.0.2', '10.0.0.7'], ['10.0.0.1..10.0.0.9', '10.0.0.3..10.0.0.4'], undefined],
    [['10.0.0.2', 'fd00::1'], ['10.0.0.0..10.255.255.255'], 'fd00::1'],
    [['10.0.0.2'], [], '10.0.0.2'],
    [['10.0.0.1..10.0.0.3'], ['10.0.0.2..10.0.0.3'], '10.0.0.1..10.0.0.3'],
  ] as const)
    it(`ranges ${ranges.join()} are ${expected === undefined ? '' : 'not '}covered by ${covers.join() || 'none'}`, () =>
      expect(firstUncovered(parseRanges(ranges), parseRanges(covers))).to.equal(expected));

  it('texts that are not ranges of addresses are left out', () => {
    const none = [
      '',
      'x',
      '10.0.0.1-',
      '..10.0.0.1',
      '10.0.0.9-10.0.0.1',
      '10.0.0.1-fd00::1',
      '1.1.1.1-1.1.1.2-1.1.1.3',
    ];
    expect(parseRanges(none)).to.deep.equal([]);
  });

  it('each cover is read a few times, however many ranges there are', () => {
    let reads = 0;
    const counted = (range: FamilyInterval): FamilyInterval =>
      new Proxy(range, { get: (target, key) => (reads++, Reflect.get(target, key) as unknown) });
    const each = Array.from({ length: 250 }, (_, index) => `10.0.${index}.1`);
    expect(firstUncovered(parseRanges(each), parseRanges(each).map(counted))).to.equal(undefined);
    expect(reads).to.be.at.most(6 * each.length);
  });
});

import { expect } from 'chai';
import { subnetFromSpec, type SubnetFamily } from '../subnet.ts';
import { parseAddress } from '../../addresses/address.ts';
import { AddressSpace } from './address-space.ts';
import type { Interval } from '../../addresses/interval.ts';

const valueOf = (text: string): bigint => (parseAddress(text) as { value: bigint }).value;
const range = (first: string, last: string): Interval => ({ first: valueOf(first), last: valueOf(last) });

describe('AddressSpace', () => {
  const { families } = subnetFromSpec('lan', {
    cidrBlock: '10.0.0.0/24',
    gateway: '10.0.0.1',
    excludeIps: ['10.0.0.1', '10.0.0.20..10.0.0.29'],
    provider: 'lan.default',
    protocol: 'IPv4',
    cooldownMs: 0,
    bindingTimeoutMs: 0,
  });
  const space = new AddressSpace(families[0] as SubnetFamily, [
    { pool: 'red', ranges: [range('10.0.0.40', '10.0.0.49')] },
    { pool: 'blue', ranges: [range('10.0.0.10', '10.0.0.24'), range('10.0.0.60', '10.0.0.60')] },
  ]);

  it('AddressSpace returns the pool of an address, also if the Subnet excludes the address', () => {
    const pools = ['10.0.0.9', '10.0.0.10', '10.0.0.24', '10.0.0.25', '10.0.0.45', '10.0.0.60', '10.0.0.61'];
    expect(pools.map((text) => space.poolNameAt(valueOf(text)))).to.deep.equal([
      '',
      'blue',
      'blue',
      '',
      'red',
      'blue',
      '',
    ]);
  });

  it('AddressSpace counts the addresses that Pods hold in all of its pools', () => {
    const used = new AddressSpace(families[0] as SubnetFamily, [
      { pool: 'red', ranges: [range('10.0.0.40', '10.0.0.49')] },
    ]);
    expect(used.inUse).to.equal(0n);
    for (const address of ['10.0.0.2', '10.0.0.3', '10.0.0.40']) used.place(address, { standing: 'taken', lastAt: 0 });
    expect(used.inUse).to.equal(3n);
  });

  it('AddressSpace returns the pool that an address is allocated from, and none for an excluded address', () => {
    const texts = ['10.0.0.9', '10.0.0.10', '10.0.0.24', '10.0.0.25', '10.0.0.45'];
    expect(texts.map((text) => space.poolAt(valueOf(text))?.pool)).to.deep.equal([
      '',
      'blue',
      undefined,
      undefined,
      'red',
    ]);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { heldAllocation } from '../testing/fakes.ts';
import { decodeAllocation, encodeAllocation, encodedAllocation } from './allocation-bytes.ts';

const anyText = fc.oneof(fc.constantFrom('', 'lan1', 'node-1'), fc.string({ unit: 'binary', maxLength: 20 }));
const anyAddress = fc.record({
  address: fc.oneof(fc.ipV4(), fc.ipV6(), anyText),
  cidr: anyText,
  gateway: anyText,
});
const anyOwner = fc.record({
  kind: anyText,
  name: fc.constantFrom('web', 'db', ''),
  uid: fc.oneof(fc.uuid(), anyText),
});
const anyAllocation = fc.record({
  seq: fc.maxSafeNat(),
  namespace: anyText,
  pod: fc.constantFrom('web-0', 'web', 'other'),
  uid: fc.oneof(fc.uuid(), anyText),
  provider: anyText,
  ordinal: fc.nat(),
  subnet: anyText,
  addresses: fc.array(anyAddress, { maxLength: 3 }),
  mac: fc.constantFrom('', '02:aa:bb:cc:dd:ee', '02:AA:BB:CC:DD:EE', 'none'),
  interface: anyText,
  node: anyText,
  owner: fc.option(anyOwner, { nil: undefined }),
});

describe('an allocation as bytes', () => {
  it('is decoded as it was', () => {
    fc.assert(
      fc.property(anyAllocation, (allocation) => {
        expect(decodeAllocation(encodeAllocation(allocation))).to.deep.equal(allocation);
      }),
    );
  });

  it('has the bytes of its present fields after a change', () => {
    const encoded = encodedAllocation(heldAllocation('a', { node: 'node-1' }));
    const changed = { ...encoded, node: 'node-2' };
    expect(decodeAllocation(encodeAllocation(changed))).to.deep.equal(heldAllocation('a', { node: 'node-2' }));
    expect(decodeAllocation(encodeAllocation(encoded))).to.deep.equal(heldAllocation('a', { node: 'node-1' }));
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { ipBytes } from './ip-bytes.ts';
import { ips, ShownIp } from './ip.ts';

const anyText = fc.oneof(fc.constantFrom('', 'node-1'), fc.string({ unit: 'binary', maxLength: 40 }));

describe('an IP object as bytes', () => {
  it('is decoded as it was', () => {
    const anyFields = fc.record({
      name: fc.oneof(anyText, fc.constantFrom('web-0.default.lan1.default', 'web.0.default', 'web', '.', 'web.')),
      uid: fc.oneof(fc.uuid(), anyText),
      resourceVersion: fc.oneof(fc.nat().map(String), anyText),
      allocation: fc.oneof(fc.nat().map(String), anyText),
      digest: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      node: anyText,
    });
    fc.assert(
      fc.property(anyFields, (fields) => {
        const object = new ShownIp(fields);
        const bytes = ipBytes.encode(object) as string;
        expect(ipBytes.decode(bytes)).to.be.instanceOf(ShownIp).and.to.deep.equal(object);
        expect(ipBytes.keyOf(bytes)).to.equal(fields.name);
      }),
    );
  });

  it('is not made of an object that shows no allocation', () => {
    expect(ipBytes.encode(ips.parse({ metadata: { name: 'reserved', uid: 'u' }, spec: {} }))).to.equal(undefined);
  });
});

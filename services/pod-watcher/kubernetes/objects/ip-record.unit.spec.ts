import { expect } from 'chai';
import fc from 'fast-check';
import { ipRecords, ips, ShownIp } from './ip.ts';

const anyText = fc.oneof(fc.constantFrom('', 'node-1', 'a/b'), fc.string({ unit: 'binary', maxLength: 40 }));

describe('an IP object as a record', () => {
  it('an IP object that is stored as a record is restored as it was', () => {
    const anyFields = fc.record({
      name: fc.oneof(anyText, fc.constantFrom('web-0.default.lan1.default', 'web.0.default', 'web', '.', 'web.')),
      uid: fc.oneof(fc.uuid(), anyText),
      resourceVersion: fc.oneof(fc.nat().map(String), anyText),
      allocation: fc.oneof(fc.nat().map(String), anyText),
      digest: fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      node: anyText,
    });
    fc.assert(
      fc.property(anyFields, (fields) => {
        const object = new ShownIp(fields);
        const stored = ipRecords.store(object);
        expect(stored).to.be.a(
          Object.values({ ...fields, name: '', digest: '' }).some((each) => each.includes('/')) ? 'object' : 'string',
        );
        expect(ipRecords.restore(stored, fields.name)).to.be.instanceOf(ShownIp).and.to.deep.equal(object);
      }),
    );
  });

  it('an IP object that shows no allocation is stored as it is', () => {
    const reserved = ips.parse({ metadata: { name: 'reserved', uid: 'u' }, spec: {} });
    expect(ipRecords.store(reserved)).to.equal(reserved);
  });
});

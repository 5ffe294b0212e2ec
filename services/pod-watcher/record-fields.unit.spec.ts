import { expect } from 'chai';
import fc from 'fast-check';
import { RecordFields } from './record-fields.ts';

/** Texts of tenants may have any character, and tests need some that repeat. */
const anyText = fc.oneof(fc.constantFrom('', 'default', 'node-1'), fc.string({ unit: 'binary', maxLength: 300 }));
const anyDecimal = fc.oneof(
  fc.nat().map(String),
  fc.constantFrom('', '007', '-1', '1.5', '1e3', '9007199254740991', '9007199254740993', 'abc', ' 1'),
);
const anyTime = fc.oneof(
  fc
    .date({ min: new Date('1970-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().replace(/\.\d+Z$/, 'Z')),
  fc.constantFrom(
    '',
    '2026-11-24T14:00:00.5Z',
    '2026-11-24T15:00:00+01:00',
    '1969-12-31T23:59:59Z',
    'tomorrow',
    '2026',
  ),
);
const anyOwner = fc.option(fc.record({ kind: anyText, name: anyText, uid: fc.oneof(fc.uuid(), anyText) }), {
  nil: undefined,
});

describe('RecordFields', () => {
  it('reads what it wrote, also when its pools are full', () => {
    for (const fields of [new RecordFields(2), new RecordFields(1_000)])
      fc.assert(
        fc.property(anyText, anyDecimal, anyTime, anyOwner, (text, decimal, time, owner) => {
          const pod = `${owner?.name ?? ''}-0`;
          fields.writeShared(text);
          fields.writeTenantText(text);
          fields.writeTenantList([text, decimal]);
          fields.writeDecimal(decimal);
          fields.writeTime(time);
          fields.writeOwner(owner, pod);
          fields.writeOwner(owner, 'another');
          fields.reader.open(fields.writer.take());
          const read = [
            fields.readShared(),
            fields.readTenantText(),
            fields.readTenantList(),
            fields.readDecimal(),
            fields.readTime(),
            fields.readOwner(pod),
            fields.readOwner('another'),
          ];
          expect(read).to.deep.equal([text, text, [text, decimal], decimal, time, owner, owner]);
        }),
      );
  });
});

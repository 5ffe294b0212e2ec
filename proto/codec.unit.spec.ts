import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { decode, encode } from './codec.ts';
import type { Allocation, Event, SubnetSpec } from './generated/ipledger.ts';

const { MAX_SAFE_INTEGER } = Number;
const root = new protobuf.Root()
  .loadSync(join(import.meta.dirname, 'ipledger.proto'), { keepCase: false })
  .resolveAll();
const messages = root.lookup('ipledger.v1', protobuf.Namespace) as protobuf.Namespace;

/** Values that a field of this type can hold, in the form that codec.ts returns. */
function arbitraryValue(field: protobuf.Field): fc.Arbitrary<unknown> {
  if (field.resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.keys(field.resolvedType.values));
  if (field.resolvedType) return arbitraryMessage(field.resolvedType);
  if (field.type === 'string') return fc.string({ unit: 'grapheme' });
  if (field.type === 'bool') return fc.boolean();
  return fc.nat(field.type === 'uint32' ? 2 ** 32 - 1 : MAX_SAFE_INTEGER);
}

/**
 * Messages with all scalars and lists. Messages, `optional` fields and members of a oneof may be
 * absent.
 */
function arbitraryMessage(type: protobuf.Type): fc.Arbitrary<object> {
  const required: Record<string, fc.Arbitrary<unknown>> = {};
  const optional: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of type.fieldsArray) {
    const value = arbitraryValue(field);
    if (field.repeated) required[field.name] = fc.array(value, { maxLength: 3 });
    else if (field.partOf && field.partOf.fieldsArray.length > 1) continue;
    else if (field.partOf || field.resolvedType instanceof protobuf.Type) optional[field.name] = value;
    else required[field.name] = value;
  }
  const plain = fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required), noNullPrototype: true });
  return type.oneofsArray.filter((oneof) => oneof.fieldsArray.length > 1).reduce(withOneOf, plain);
}

function withOneOf(plain: fc.Arbitrary<object>, oneof: protobuf.OneOf): fc.Arbitrary<object> {
  const alternatives = oneof.fieldsArray.map((field) =>
    arbitraryValue(field).map((value) => ({ [field.name]: value })),
  );
  return fc.tuple(plain, fc.oneof(fc.constant({}), ...alternatives)).map(([rest, chosen]) => ({ ...rest, ...chosen }));
}

const types = messages.nestedArray.filter((item) => item instanceof protobuf.Type);
/** Makes protobufjs return the same form: numbers, enum names, nothing for absent values. */
const asPlain = { longs: Number, enums: String, defaults: true, arrays: true };

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutNulls(inner)]));
}

describe('The codec', () => {
  it('decode returns every message as it was encoded', () => {
    for (const type of types)
      fc.assert(
        fc.property(arbitraryMessage(type), (message) => {
          expect(decode(type.name, encode(type.name, message)), type.name).to.deep.equal(message);
        }),
        { numRuns: 50 },
      );
  });

  it('encode writes the same bytes as protobufjs, and decode reads them in the same way', () => {
    for (const type of types)
      fc.assert(
        fc.property(arbitraryMessage(type), (message) => {
          const theirs = type.encode(type.fromObject(message)).finish();
          expect(encode(type.name, message).equals(theirs), type.name).to.equal(true);
          expect(decode(type.name, theirs)).to.deep.equal(withoutNulls(type.toObject(type.decode(theirs), asPlain)));
        }),
        { numRuns: 20 },
      );
  });

  it('The codec reads a list of numbers that is not packed', () => {
    const tag = (2 << 3) | 0; // ClaimsDropped.previous
    expect(decode('ClaimsDropped', Uint8Array.of(tag, 7, tag, 9))).to.deep.include({ previous: [7, 9] });
  });

  it('The codec skips a field with another wire type than the table states', () => {
    const text = (2 << 3) | 2; // Position.seq is a number
    expect(decode('Position', Uint8Array.of(text, 1, 0x68))).to.deep.equal({ epoch: 0, seq: 0, hash: '' });
  });

  it('decode returns all scalars and lists of an empty message, but no messages and optional fields', () => {
    expect(decode('SubnetSpec', new Uint8Array())).to.deep.equal({
      cidrBlock: '',
      gateway: '',
      excludeIps: [],
      provider: '',
      protocol: '',
    });
    expect(decode('GetAddressReply', new Uint8Array())).to.deep.equal({});
  });

  it('The codec distinguishes an optional field that is zero from an absent field', () => {
    const zero = decode('SubnetSpec', encode('SubnetSpec', { cooldownMs: 0 })) as SubnetSpec;
    const absent = decode('SubnetSpec', encode('SubnetSpec', { cooldownMs: undefined })) as SubnetSpec;
    expect(zero.cooldownMs).to.equal(0);
    expect(absent).not.to.have.property('cooldownMs');
    const no = decode('Allocation', encode('Allocation', { defaultRoute: false })) as Allocation;
    expect(no.defaultRoute).to.equal(false);
  });

  it('The codec carries numbers up to 2^53 - 1', () => {
    for (const seq of [0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, MAX_SAFE_INTEGER])
      expect(decode('Position', encode('Position', { seq }))).to.include({ seq });
  });

  for (const [what, seq] of Object.entries({
    'a BigInt': 5n,
    '2^53': 2 ** 53,
    'a fraction': 1.5,
    'a negative number': -1,
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
  }))
    it(`The codec rejects ${what} at any depth when it writes`, () => {
      expect(() => encode('Position', { seq })).to.throw(RangeError, 'Position.seq is');
      expect(() => encode('ListAllocationsReply', { allocations: [{}, { seq }] })).to.throw(
        RangeError,
        'ListAllocationsReply.allocations.1.seq',
      );
      expect(() => encode('Event', { before: [{ seq }] })).to.throw(RangeError, 'Event.before.0.seq is');
    });

  for (const [what, varint] of Object.entries({
    '2^53': [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10],
    '2^53 + 1, which would be rounded': [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10],
    '2^64 - 1': [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  }))
    it(`The codec rejects ${what} when it reads`, () => {
      expect(() => decode('Position', Uint8Array.of(0x10, ...varint))).to.throw(RangeError, 'Position.seq is');
    });

  it('The codec skips unknown fields, such as those of a newer server', () => {
    const unknownText = [0xfa, 0x07, 0x02, 0x68, 0x69]; // field 127, length 2
    const bytes = Uint8Array.of(...encode('Position', { epoch: 1, seq: 2, hash: 'ab' }), ...unknownText);
    expect(decode('Position', bytes)).to.deep.equal({ epoch: 1, seq: 2, hash: 'ab' });
  });

  it('The codec rejects truncated bytes', () => {
    const bytes = encode('Event', { type: 'AddressAllocated', stored: '{"v":1}' });
    expect(() => decode('Event', bytes.subarray(0, bytes.length - 1))).to.throw();
  });

  it('The codec reads enums as their names, and rejects an unknown enum', () => {
    const event = decode(
      'Event',
      encode('Event', { addressReleased: { cause: 'RELEASE_CAUSE_POD_DELETED' } }),
    ) as Event;
    expect(event.addressReleased?.cause).to.equal('RELEASE_CAUSE_POD_DELETED');
    expect(event).not.to.have.property('addressAllocated');
    expect(() => encode('Event', { addressReleased: { cause: 'pod-deleted' } })).to.throw(
      TypeError,
      'Event.addressReleased.cause is pod-deleted',
    );
  });

  it('The codec rejects a message that is not in the .proto', () => {
    expect(() => encode('Nonsense', {})).to.throw(TypeError, 'no message Nonsense');
  });
});

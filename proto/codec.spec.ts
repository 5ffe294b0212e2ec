import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { decode, encode } from './codec.ts';
import type { Allocation, Event, Position, SubnetSpec } from './ipledger.ts';

const { MAX_SAFE_INTEGER } = Number;
const root = new protobuf.Root()
  .loadSync(join(import.meta.dirname, 'ipledger.proto'), { keepCase: false })
  .resolveAll();
const messages = root.lookup('ipledger.v1', protobuf.Namespace) as protobuf.Namespace;

/** Whatever a field of this type can hold, as codec.ts hands it out. */
function arbitraryValue(field: protobuf.Field): fc.Arbitrary<unknown> {
  if (field.resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.keys(field.resolvedType.values));
  if (field.resolvedType) return arbitraryMessage(field.resolvedType);
  if (field.type === 'string') return fc.string({ unit: 'grapheme' });
  if (field.type === 'bool') return fc.boolean();
  return fc.nat(field.type === 'uint32' ? 2 ** 32 - 1 : MAX_SAFE_INTEGER);
}

/** Messages with every scalar and list present; messages, `optional` ones and those of a oneof there or left out. */
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

describe('the codec', () => {
  it('gives every message back as it was written', () => {
    for (const type of messages.nestedArray.filter((item) => item instanceof protobuf.Type))
      fc.assert(
        fc.property(arbitraryMessage(type), (message) => {
          expect(decode(type.name, encode(type.name, message)), type.name).to.deep.equal(message);
        }),
        { numRuns: 50 },
      );
  });

  it('hands out every scalar and list of an empty message, and leaves out messages and optionals', () => {
    expect(decode('SubnetSpec', new Uint8Array())).to.deep.equal({
      cidrBlock: '',
      gateway: '',
      excludeIps: [],
      provider: '',
      protocol: '',
    });
    expect(decode('GetReply', new Uint8Array())).to.deep.equal({});
  });

  it('tells an optional that is zero from one that is absent', () => {
    const zero = decode('SubnetSpec', encode('SubnetSpec', { cooldownMs: 0 })) as SubnetSpec;
    const absent = decode('SubnetSpec', encode('SubnetSpec', { cooldownMs: undefined })) as SubnetSpec;
    expect(zero.cooldownMs).to.equal(0);
    expect(absent).not.to.have.property('cooldownMs');
    const no = decode('Allocation', encode('Allocation', { defaultRoute: false })) as Allocation;
    expect(no.defaultRoute).to.equal(false);
  });

  it('carries numbers up to 2^53 - 1', () => {
    const position = decode('Position', encode('Position', { seq: MAX_SAFE_INTEGER })) as Position;
    expect(position.seq).to.equal(MAX_SAFE_INTEGER);
  });

  for (const [what, seq] of Object.entries({
    'a BigInt': 5n,
    '2^53': 2 ** 53,
    'a fraction': 1.5,
    'a negative number': -1,
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
  }))
    it(`refuses to write ${what}, however deep`, () => {
      expect(() => encode('Position', { seq })).to.throw(RangeError, 'Position.seq is');
      expect(() => encode('ListReply', { allocations: [{}, { seq }] })).to.throw(
        RangeError,
        'ListReply.allocations.1.seq',
      );
      expect(() => encode('Event', { before: [{ seq }] })).to.throw(RangeError, 'Event.before.0.seq is');
    });

  for (const [what, varint] of Object.entries({
    '2^53': [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10],
    '2^53 + 1, which would be rounded': [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10],
    '2^64 - 1': [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  }))
    it(`refuses to read ${what}`, () => {
      expect(() => decode('Position', Uint8Array.of(0x10, ...varint))).to.throw(RangeError, 'Position.seq is');
    });

  it('skips fields that it does not know, as a newer server sends them', () => {
    const unknownText = [0xfa, 0x07, 0x02, 0x68, 0x69]; // field 127, length 2
    const bytes = Uint8Array.of(...encode('Position', { epoch: 1, seq: 2, hash: 'ab' }), ...unknownText);
    expect(decode('Position', bytes)).to.deep.equal({ epoch: 1, seq: 2, hash: 'ab' });
  });

  it('refuses bytes that are cut off', () => {
    const bytes = encode('Event', { type: 'AddressAllocated', stored: '{"v":1}' });
    expect(() => decode('Event', bytes.subarray(0, bytes.length - 1))).to.throw();
  });

  it('writes enums as their names', () => {
    const event = decode(
      'Event',
      encode('Event', { addressReleased: { cause: 'RELEASE_CAUSE_POD_DELETED' } }),
    ) as Event;
    expect(event.addressReleased?.cause).to.equal('RELEASE_CAUSE_POD_DELETED');
    expect(event).not.to.have.property('addressAllocated');
  });

  it('knows no message of another name', () => {
    expect(() => encode('Nonsense', {})).to.throw(TypeError, 'no message Nonsense');
  });
});

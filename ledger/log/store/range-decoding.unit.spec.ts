import { expect } from 'chai';
import fc from 'fast-check';
import { IpledgerError } from '../../../lib/errors.ts';
import { etcdMessage } from '../testing/etcd-messages.ts';
import { decodeRangeReply } from './range-decoding.ts';

/** Keys with any bytes, because another program can write them. */
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('ä'.repeat(100)));
const bytes = fc.oneof(
  text.map((each) => Buffer.from(each)),
  fc.uint8Array().map((each) => Buffer.from(each)),
);
const revision = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }));
const anyInt64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const keyValue = fc.record(
  { key: bytes, value: bytes, mod_revision: revision, create_revision: anyInt64, version: anyInt64, lease: anyInt64 },
  { requiredKeys: [] },
);
const header = fc.record(
  { cluster_id: anyInt64, member_id: anyInt64, revision, raft_term: anyInt64 },
  { requiredKeys: ['revision'] },
);
const reply = fc.record(
  { header, kvs: fc.array(keyValue), more: fc.boolean(), count: anyInt64 },
  { requiredKeys: ['header'] },
);

describe('decodeRangeReply', () => {
  const rangeResponse = etcdMessage('RangeResponse');
  const encoded = (message: object): Buffer =>
    Buffer.from(rangeResponse.encode(rangeResponse.fromObject(message)).finish());

  /** Decodes the same bytes with the definition of etcd. */
  function expectedOf(message: Buffer): unknown {
    const { header, kvs, more } = rangeResponse.toObject(rangeResponse.decode(message), {
      longs: Number,
      bytes: Buffer,
      defaults: true,
    }) as {
      readonly header: { readonly revision: number } | null;
      readonly kvs: readonly { readonly key: Buffer; readonly value: Buffer; readonly mod_revision: number }[];
      readonly more: boolean;
    };
    const keys = kvs.map(({ key, value, mod_revision: modRevision }) => ({
      key: key.toString('utf8'),
      text: value.toString('utf8'),
      modRevision,
    }));
    const size = kvs.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    return { revision: header?.revision ?? 0, keys, bytes: size, more };
  }

  it('decodeRangeReply decodes any reply as the definition of etcd does', () => {
    fc.assert(
      fc.property(reply, (message) => {
        const sent = encoded(message);
        expect(decodeRangeReply(sent)).to.deep.equal(expectedOf(sent));
      }),
    );
  });

  it('decodeRangeReply ignores unknown fields of each type, also in a header and in a key', () => {
    const unknown = Buffer.concat([
      Buffer.of((9 << 3) | 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
      Buffer.of((10 << 3) | 1, 1, 2, 3, 4, 5, 6, 7, 8),
      Buffer.of((11 << 3) | 2, 2, 65, 66),
      Buffer.of((12 << 3) | 5, 1, 2, 3, 4),
    ]);
    const nested = (field: number, message: Buffer): Buffer =>
      Buffer.concat([Buffer.of((field << 3) | 2, message.length), message]);
    const message = Buffer.concat([
      unknown,
      nested(1, Buffer.concat([unknown, Buffer.of(3 << 3, 7)])),
      nested(2, Buffer.concat([unknown, Buffer.of((1 << 3) | 2, 1, 97, 3 << 3, 5)])),
      unknown,
    ]);
    const keys = [{ key: 'a', text: '', modRevision: 5 }];
    expect(decodeRangeReply(message)).to.deep.equal({ revision: 7, keys, bytes: 1, more: false });
  });

  it('decodeRangeReply rejects a reply without a revision, because the pages of a range would have different revisions', () => {
    for (const message of [{}, { header: { member_id: '7' } }, { kvs: [{ key: Buffer.from('key') }] }])
      expect(() => decodeRangeReply(encoded(message))).to.throw(IpledgerError, 'it has no revision');
  });

  it('decodeRangeReply rejects a reply that ends inside a field', () => {
    const message = encoded({ header: { revision: 300 }, kvs: [{ key: Buffer.from('key'), value: Buffer.from('v') }] });
    const [headerBytes] = [2 + (message[1] as number)];
    for (let length = 1; length < message.length; length++)
      if (length !== headerBytes)
        expect(() => decodeRangeReply(message.subarray(0, length)), String(length)).to.throw(
          IpledgerError,
          /^etcd could not be read: its reply is not a RangeResponse: /,
        );
  });

  it('decodeRangeReply never takes bytes after a message for its last field', () => {
    const header = Buffer.of((1 << 3) | 2, 2, 3 << 3, 7);
    /** The number of the inner message has no end, and the byte after that message could be it. */
    const unended = (outer: number, inner: number): Buffer => Buffer.of((outer << 3) | 2, 2, inner << 3, 0x85, 0x00);
    for (const [what, message] of Object.entries({
      'a revision': unended(1, 3),
      'an unknown number of a header': unended(1, 9),
      'the revision of a key': unended(2, 3),
      'an unknown number of a key': unended(2, 9),
    }))
      expect(() => decodeRangeReply(Buffer.concat([header, message])), what).to.throw('it ends inside a field');
  });

  it('decodeRangeReply decodes numbers below 2^53, and rejects larger ones, unknown types, and fields that are longer than their message', () => {
    const longKey = Buffer.of((2 << 3) | 2, 2, (1 << 3) | 2, 9, 97, 97, 97, 97, 97, 97, 97, 97, 97);
    expect(() => decodeRangeReply(longKey)).to.throw('a field is longer than its message');
    expect(() => decodeRangeReply(Buffer.of((9 << 3) | 3))).to.throw('a field has the unknown type 3');
    expect(() => decodeRangeReply(Buffer.of((9 << 3) | 1, 1))).to.throw('a field is longer than its message');
    const most = encoded({ header: { revision: Number.MAX_SAFE_INTEGER } });
    expect(decodeRangeReply(most).revision).to.equal(Number.MAX_SAFE_INTEGER);
    const huge = Buffer.of((1 << 3) | 2, 9, 3 << 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
    expect(() => decodeRangeReply(huge)).to.throw('a number is too large');
    expect(() => decodeRangeReply(Buffer.alloc(200, 0x80))).to.throw('a number is too large');
  });

  it('decodeRangeReply decodes a number of up to ten bytes, as protobuf does, and rejects one of eleven', () => {
    /** A revision of 5, with leading zeros. */
    const padded = (bytes: number): Buffer =>
      Buffer.of((1 << 3) | 2, bytes + 1, 3 << 3, 0x85, ...Array<number>(bytes - 2).fill(0x80), 0);
    expect(decodeRangeReply(padded(10)).revision).to.equal(5);
    expect(() => decodeRangeReply(padded(11))).to.throw('a number is too large');
  });

  it('decodeRangeReply decodes or rejects any bytes, and never reads beyond them', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), damaged(reply.map(encoded))), (message) => {
        try {
          const { keys, bytes: size } = decodeRangeReply(Buffer.from(message));
          expect(size).to.be.at.most(message.length);
          expect(keys.length).to.be.at.most(message.length);
        } catch (error) {
          expect(error).to.be.instanceOf(IpledgerError);
        }
      }),
    );
  });
});

/** Changes one byte. */
const damaged = (message: fc.Arbitrary<Buffer>): fc.Arbitrary<Uint8Array> =>
  fc.tuple(message, fc.nat(), fc.nat(255)).map(([original, at, byte]) => {
    const copy = Uint8Array.from(original);
    if (copy.length > 0) copy[at % copy.length] = byte;
    return copy;
  });

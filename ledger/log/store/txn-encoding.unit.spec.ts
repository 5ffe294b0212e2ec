import { expect } from 'chai';
import { etcdMessage } from '../testing/etcd-messages.ts';
import { encodeTransaction, type Transaction } from './txn-encoding.ts';

describe('encodeTransaction', () => {
  const txnRequest = etcdMessage('TxnRequest');
  const decoded = (transaction: Transaction): unknown =>
    txnRequest.toObject(txnRequest.decode(encodeTransaction(transaction)), {
      enums: String,
      longs: String,
      bytes: String,
    });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  it('encodeTransaction encodes each kind of compare, put and read', () => {
    const transaction: Transaction = {
      compares: [
        { key: 'a', equals: { value: 'head' } },
        { key: 'b', rangeEnd: 'c', equals: { create: 0n } },
        { key: 'd', equals: { create: 12_345_678_901n } },
        { key: 'e', equals: { mod: 300n } },
      ],
      puts: [
        { key: 'f', value: 'v' },
        { key: 'g', value: 'ä'.repeat(100) },
        { key: 'h', value: undefined },
        { key: 'h', value: undefined, rangeEnd: 'i' },
        { key: 'n', value: 'x'.repeat(128) },
      ],
      reads: [{ key: 'i' }, { key: 'j', rangeEnd: 'k', limit: 1 }],
    };
    expect(decoded(transaction)).to.deep.equal({
      compare: [
        { target: 'Value', key: base64('a'), value: base64('head') },
        { target: 'Create', key: base64('b'), create_revision: '0', range_end: base64('c') },
        { target: 'Create', key: base64('d'), create_revision: '12345678901' },
        { target: 'Mod', key: base64('e'), mod_revision: '300' },
      ],
      success: [
        { request_put: { key: base64('f'), value: base64('v') } },
        { request_put: { key: base64('g'), value: base64('ä'.repeat(100)) } },
        { request_delete_range: { key: base64('h') } },
        { request_delete_range: { key: base64('h'), range_end: base64('i') } },
        { request_put: { key: base64('n'), value: base64('x'.repeat(128)) } },
      ],
      failure: [
        { request_range: { key: base64('i') } },
        { request_range: { key: base64('j'), range_end: base64('k'), limit: '1' } },
      ],
    });
  });

  it('encodeTransaction encodes each transaction around the size of its first buffer, and in no more bytes than needed', () => {
    for (let length = 16_300; length < 16_400; length++) {
      encodeTransaction({ compares: [], puts: [], reads: [] });
      const value = 'x'.repeat(length);
      const bytes = encodeTransaction({ compares: [], puts: [{ key: 'key', value }], reads: [] });
      const message = txnRequest.decode(bytes);
      expect(txnRequest.toObject(message, { bytes: String }), String(length)).to.deep.equal({
        success: [{ request_put: { key: base64('key'), value: base64(value) } }],
      });
      expect(bytes.length).to.equal(txnRequest.encode(message).finish().length);
    }
  });

  it('encodeTransaction encodes a transaction that is larger than its first buffer', () => {
    const values = Array.from({ length: 128 }, (_, index) => ({
      key: `key-${index}`,
      value: 'x'.repeat(8_000 + index),
    }));
    const { success } = decoded({ compares: [], puts: values, reads: [] }) as {
      readonly success: readonly { readonly request_put: { readonly key: string; readonly value: string } }[];
    };
    const puts = success.map(({ request_put: { key, value } }) => ({
      key: Buffer.from(key, 'base64').toString(),
      value: Buffer.from(value, 'base64').toString(),
    }));
    expect(puts).to.deep.equal(values);
  });
});

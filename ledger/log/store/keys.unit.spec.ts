import { expect } from 'chai';
import fc from 'fast-check';
import {
  addressKey,
  claimNameOf,
  droppedKey,
  endedKey,
  logKey,
  logPrefix,
  memberKey,
  poolKey,
  prefixEnd,
  segmentKey,
  subnetKey,
} from './keys.ts';

describe('etcd keys', () => {
  it('claimNameOf returns Subnet and address of an address key', () => {
    for (const address of ['172.17.0.11', 'fd00:10:16::2', '::1'])
      expect(claimNameOf(addressKey({ subnet: 'a-subnet.example', address }))).to.deep.equal({
        subnet: 'a-subnet.example',
        address,
      });
  });

  it('claimNameOf rejects a key that is not an address key', () => {
    for (const key of [
      '/ipledger/v1/head',
      '/ipledger/v1/pool/macvlan/172.17.0.11',
      '/ipledger/v1/addr/',
      '/ipledger/v1/addr/macvlan',
      '/ipledger/v1/addr/macvlan/',
      '/ipledger/v1/addr//172.17.0.11',
      '/ipledger/v1/addr/macvlan/172.17.0.11/24',
    ])
      expect(() => claimNameOf(key), key)
        .to.throw(key)
        .with.property('code', 'LEDGER_DAMAGED');
  });

  it('the keys have the names that the documents list, and numbers of 16 digits', () => {
    expect([
      segmentKey(1),
      endedKey(2),
      memberKey('a'),
      droppedKey('lan'),
      subnetKey('lan'),
      poolKey('p'),
    ]).to.deep.equal([
      '/ipledger/v1/segment/0000000000000001',
      '/ipledger/v1/ended/0000000000000002',
      '/ipledger/v1/member/a',
      '/ipledger/v1/dropped/lan',
      '/ipledger/v1/subnet/lan',
      '/ipledger/v1/pool/p',
    ]);
  });

  it('claimNameOf names at most 500 characters of a key that another program wrote', () => {
    const key = `/ipledger/v1/addr/${'x'.repeat(600)}`;
    expect(() => claimNameOf(key)).to.throw(`${key.slice(0, 500)} is not an address key`);
  });

  it('logKey keeps the order of the event numbers', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (one, other) => {
        expect(Buffer.compare(Buffer.from(logKey(one)), Buffer.from(logKey(other)))).to.equal(Math.sign(one - other));
        expect(logKey(one) < prefixEnd(logPrefix)).to.be.true;
      }),
    );
    expect(logKey(42)).to.equal('/ipledger/v1/log/0000000000000042');
    expect(prefixEnd(logPrefix)).to.equal('/ipledger/v1/log0');
  });
});

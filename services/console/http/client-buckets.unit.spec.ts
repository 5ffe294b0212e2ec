import { expect } from 'chai';
import { ClientBuckets } from './client-buckets.ts';

const slow = { perSecond: 0.001, burst: 1 };

describe('ClientBuckets', () => {
  it('ClientBuckets limits the client that has used up its bucket, and no other client', () => {
    const clients = new ClientBuckets(slow, 10);
    const take = (remoteAddress: string): boolean => clients.take({ remoteAddress });
    expect([take('10.0.0.1'), take('10.0.0.1'), take('10.0.0.2')]).to.deep.equal([true, false, true]);
  });

  it('ClientBuckets limits all addresses of an IPv6 host together', () => {
    const clients = new ClientBuckets(slow, 10);
    const take = (remoteAddress: string): boolean => clients.take({ remoteAddress });
    expect([take('2001:db8::1'), take('2001:db8::2'), take('2001:db8:0:1::1')]).to.deep.equal([true, false, true]);
  });
});

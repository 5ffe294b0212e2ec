import { expect } from 'chai';
import { etcdErrorMessage } from './etcd-transaction.ts';

describe('etcdErrorMessage', () => {
  it('etcdErrorMessage names the effect and the remedy when etcd has reached its quota', () => {
    const full = new Error('8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded');
    expect(etcdErrorMessage(full)).to.equal(
      'etcdserver: mvcc: database space exceeded. etcd is full: no address can be allocated or released. Compact and defragment it, then run: etcdctl alarm disarm',
    );
  });

  it('etcdErrorMessage leaves out the number and name of the gRPC status', () => {
    expect(etcdErrorMessage(new Error('14 UNAVAILABLE: etcdserver: no leader'))).to.equal('etcdserver: no leader');
  });
});

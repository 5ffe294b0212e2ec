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

  it('etcdErrorMessage reports a missing connection, with the last error if there is one', () => {
    const unconnected = (reason: string) =>
      etcdErrorMessage(
        new Error(`14 UNAVAILABLE: No connection established. Last error: ${reason}. Resolution note: `),
      );
    expect(unconnected('null')).to.equal('no connection');
    expect(unconnected('Error: connect ECONNREFUSED 10.0.0.1:2379')).to.equal(
      'no connection: connect ECONNREFUSED 10.0.0.1:2379',
    );
  });
});

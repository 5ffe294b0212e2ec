import { expect } from 'chai';
import { failureOf, never } from '../testing/running-writer.ts';
import { callEtcd } from './range-reader.ts';

describe('callEtcd', () => {
  it('callEtcd returns the reply of etcd', async () => {
    expect(await callEtcd('read', Promise.resolve('reply'), never)).to.equal('reply');
  });

  it('callEtcd reports what etcd did not do, and why', async () => {
    const { code, message } = await failureOf(callEtcd('written to', Promise.reject(new Error('no leader')), never));
    expect([code, message]).to.deep.equal(['UNAVAILABLE', 'etcd could not be written to: no leader']);
  });

  it('callEtcd fails with the reason of an abort, also while etcd does not answer', async () => {
    const stop = new AbortController();
    const failed = failureOf(callEtcd('read', new Promise<never>(() => undefined), stop.signal));
    const reason = new Error('this replica is the writer now');
    stop.abort(reason);
    expect(await failed).to.equal(reason);
  });
});

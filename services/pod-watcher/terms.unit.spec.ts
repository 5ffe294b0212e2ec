import { expect } from 'chai';
import { refuseKubeOvn } from './terms.ts';
import { FakeApi } from './testing/fake-api.ts';
import { silentLogger } from './testing/fakes.ts';

describe('The start of a term', () => {
  it('a watcher that is stopped while it looks for Kube-OVN’s controller ends without an error', async () => {
    const stop = new AbortController();
    const api = new FakeApi();
    api.request = () => {
      stop.abort();
      return Promise.reject(stop.signal.reason as Error);
    };
    const error: unknown = await refuseKubeOvn(api, silentLogger, stop.signal).catch((thrown: unknown) => thrown);
    expect(error).to.equal(undefined);
  });
});

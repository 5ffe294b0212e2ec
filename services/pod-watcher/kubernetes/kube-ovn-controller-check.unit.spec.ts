import { expect } from 'chai';
import {
  kubeOvnLeasePath as path,
  kubeOvnRunningMessage,
  type LeaseHolderStatus,
} from '../../../lib/kubernetes/lease-observer.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { until } from '../testing/fakes.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { kubeOvnControllerCheck } from './kube-ovn-controller-check.ts';

describe('Check for Kube-OVN’s controller', () => {
  let api: FakeApi;
  let check: () => Promise<LeaseHolderStatus>;
  beforeEach(() => {
    api = new FakeApi();
    const observe = kubeOvnControllerCheck(api);
    check = () => observe(new AbortController().signal);
  });

  const lease = (renewTime: string, more: object = {}): void =>
    api.put(path, {
      metadata: { name: 'kube-ovn-controller' },
      spec: { holderIdentity: 'kube-ovn-controller-0', leaseDurationSeconds: 3_600, renewTime, ...more },
    });
  /** Times that a wrong clock of the other machine may write. */
  const [longAgo, soon] = ['2001-01-01T00:00:00.000000Z', '2101-01-01T00:00:00.000000Z'];

  it('the holder of the Lease is reported while Kube-OVN’s controller renews the Lease', async () => {
    lease(longAgo);
    expect(await check()).to.equal('unknown');
    lease('2001-01-01T00:00:02.000000Z');
    const status = await check();
    expect(status).to.deep.equal({ holder: 'kube-ovn-controller-0', renewed: '2001-01-01T00:00:02.000000Z' });
    expect(kubeOvnRunningMessage(status as Exclude<LeaseHolderStatus, string>, 'start')).to.contain(
      'stop kube-ovn-controller first, then start',
    );
  });

  it('Kube-OVN’s controller is reported absent when its Lease is unchanged for its duration, with any time in the Lease', async () => {
    lease(soon, { leaseDurationSeconds: 0.02 });
    expect(await check()).to.equal('unknown');
    let status: LeaseHolderStatus = 'unknown';
    void (async () => {
      while (status === 'unknown') status = await check();
    })();
    await until(() => status !== 'unknown');
    expect(status).to.equal('absent');
  });

  it('Kube-OVN’s controller is not reported as running when another field of its Lease changes', async () => {
    lease(longAgo);
    await check();
    lease(longAgo, { leaseTransitions: 3 });
    expect(await check()).to.equal('unknown');
  });

  it('Kube-OVN’s controller is reported absent when its Lease is released or does not exist', async () => {
    expect(await check()).to.equal('absent');
    lease(longAgo, { holderIdentity: '' });
    expect(await check()).to.equal('absent');
  });

  it('Kube-OVN’s controller is reported when it starts later', async () => {
    await check();
    lease(longAgo);
    expect(await check()).to.equal('unknown');
    lease(soon);
    expect(await check()).to.have.property('holder');
  });

  it('the check for Kube-OVN’s controller fails while the API server is unavailable', async () => {
    api.failRequest = () => new ApiError(500, 'etcd is away');
    expect(await check().catch((error: unknown) => error)).to.be.instanceOf(ApiError);
  });
});

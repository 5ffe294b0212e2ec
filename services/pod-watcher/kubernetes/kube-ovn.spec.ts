import { expect } from 'chai';
import { kubeOvnLease as path, kubeOvnRuns } from '../../../lib/kube-ovn.ts';
import type { Sight } from '../../../lib/lease.ts';
import { FakeApi } from '../fake-api.ts';
import { until } from '../fakes.ts';
import { ApiError } from './api.ts';
import { kubeOvnObserver } from './kube-ovn.ts';

describe('Kube-OVN’s own controller', () => {
  let api: FakeApi;
  let look: () => Promise<Sight>;
  beforeEach(() => {
    api = new FakeApi();
    const observe = kubeOvnObserver(api);
    look = () => observe(new AbortController().signal);
  });

  const lease = (renewTime: string, more: object = {}): void =>
    api.put(path, {
      metadata: { name: 'kube-ovn-controller' },
      spec: { holderIdentity: 'kube-ovn-controller-0', leaseDurationSeconds: 3_600, renewTime, ...more },
    });
  /** However wrong the other machine's clock is. */
  const [longAgo, soon] = ['2001-01-01T00:00:00.000000Z', '2101-01-01T00:00:00.000000Z'];

  it('runs when it renews its Lease, and is named', async () => {
    lease(longAgo);
    expect(await look()).to.equal('unsure');
    lease('2001-01-01T00:00:02.000000Z');
    const sight = await look();
    expect(sight).to.deep.equal({ holder: 'kube-ovn-controller-0', renewed: '2001-01-01T00:00:02.000000Z' });
    expect(kubeOvnRuns(sight as Exclude<Sight, string>, 'start')).to.contain(
      'stop kube-ovn-controller first, then start',
    );
  });

  it('is away when its Lease stays unchanged for as long as it lasts, whatever the time in it', async () => {
    lease(soon, { leaseDurationSeconds: 0.02 });
    expect(await look()).to.equal('unsure');
    let sight: Sight = 'unsure';
    void (async () => {
      while (sight === 'unsure') sight = await look();
    })();
    await until(() => sight !== 'unsure');
    expect(sight).to.equal('away');
  });

  it('is not taken to run when something else is written to its Lease', async () => {
    lease(longAgo);
    await look();
    lease(longAgo, { leaseTransitions: 3 });
    expect(await look()).to.equal('unsure');
  });

  it('is away when its Lease was given back, or never there', async () => {
    expect(await look()).to.equal('away');
    lease(longAgo, { holderIdentity: '' });
    expect(await look()).to.equal('away');
  });

  it('is seen also when it comes later', async () => {
    await look();
    lease(longAgo);
    expect(await look()).to.equal('unsure');
    lease(soon);
    expect(await look()).to.have.property('holder');
  });

  it('cannot be seen while the API server does not answer', async () => {
    api.trouble = () => new ApiError(500, 'etcd is away');
    expect(await look().catch((error: unknown) => error)).to.be.instanceOf(ApiError);
  });
});

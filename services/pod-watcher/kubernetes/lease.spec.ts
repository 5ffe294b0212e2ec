import { expect } from 'chai';
import { pause, within } from '../../../lib/deadline.ts';
import { FakeApi } from '../fake-api.ts';
import { silent, until } from '../fakes.ts';
import { ApiError } from './api.ts';
import { acquireLease, type HeldLease } from './lease.ts';
import { record } from '../../../lib/raw.ts';

const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/ipledger-pod-watcher';

describe('the Lease of the active watcher', () => {
  let api: FakeApi;
  let stop: AbortController;
  let standing: number;
  let renewed: number;
  beforeEach(() => {
    api = new FakeApi();
    stop = new AbortController();
    standing = renewed = 0;
  });
  afterEach(() => stop.abort());

  const acquire = (more: object = {}, memory?: () => string | undefined): Promise<HeldLease | undefined> =>
    acquireLease({
      api,
      namespace: 'kube-system',
      name: 'ipledger-pod-watcher',
      log: silent,
      signal: stop.signal,
      onStandby: () => (standing += 1),
      onRenewed: () => (renewed += 1),
      ...(memory && { memory }),
      pace: { durationMs: 200, renewWithinMs: 30_000, renewEveryMs: 5, lookEveryMs: 5, ...more },
    });
  const spec = () => record(api.objects.get(path)?.['spec']);
  const remembered = () => record(record(api.objects.get(path)?.metadata)['annotations'])['ipledger.io/memory'];
  const heldBy = (holderIdentity: string, leaseDurationSeconds = 1) =>
    api.put(path, {
      metadata: { name: 'ipledger-pod-watcher' },
      spec: { holderIdentity, leaseDurationSeconds, leaseTransitions: 4 },
    });

  it('is made by the first, and renewed', async () => {
    const lease = await acquire();
    expect(lease).not.to.equal(undefined);
    expect(spec()).to.include({ leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(spec()['renewTime']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const [first, acquired] = [spec()['renewTime'], spec()['acquireTime']];
    await until(() => spec()['renewTime'] !== first && renewed > 1);
    expect(spec()['acquireTime']).to.equal(acquired);
  });

  it('is taken over from a holder who renews no more, not from one who does', async () => {
    heldBy('other');
    const since = performance.now();
    // Renewed at each look, for longer than the lease lasts.
    api.trouble = () => {
      if (performance.now() - since < 1_200) heldBy('other');
      else api.trouble = undefined;
      return undefined;
    };
    const lease = acquire();
    await until(() => api.trouble === undefined);
    expect(spec()['holderIdentity']).to.equal('other');
    expect(standing).to.be.greaterThan(1);
    expect(await lease).not.to.equal(undefined);
    expect(spec()).to.include({ leaseTransitions: 5 });
  });

  it('is taken at once when it was given back', async () => {
    heldBy('');
    const lease = await acquire();
    expect(standing).to.equal(0);
    await lease?.release();
    expect(spec()['holderIdentity']).to.equal('');
  });

  it('ends when somebody else has it', async () => {
    const lease = await acquire();
    heldBy('other');
    await lease?.ended;
    expect(spec()['holderIdentity']).to.equal('other');
    await lease?.release();
    expect(spec()['holderIdentity'], 'what is another’s is not given back').to.equal('other');
  });

  it('ends when it cannot be renewed in time', async () => {
    const lease = await acquire({ renewWithinMs: 100 });
    api.trouble = () => new ApiError(500, 'etcd is away');
    await lease?.ended;
  });

  it('ends before others may take it, however slowly the API server fails', async () => {
    const renewWithinMs = 2_000;
    const lease = await acquire({ renewWithinMs });
    const othersMay = pause(1.5 * renewWithinMs, stop.signal).then(() => 'others may take it');
    let asked = 0;
    api.request = async ({ signal }) => {
      // Most of the time goes with the first try, and the second hears nothing.
      const tooLong = asked++ === 0 ? within(0.9 * renewWithinMs, signal) : signal;
      await pause(60_000, tooLong);
      throw new ApiError(500, 'etcd is away');
    };
    expect(await Promise.race([lease?.ended, othersMay])).to.equal(undefined);
  });

  it('is not taken by an answer that took longer than it lasts', async () => {
    const answer = api.request.bind(api);
    let lateAnswers = 0;
    api.request = async (request) => {
      const answered = await answer(request);
      if (request.method === 'GET' || lateAnswers++ > 0) return answered;
      await pause(60_000, request.signal);
      throw new ApiError(0, 'no answer');
    };
    expect(await acquire({ renewWithinMs: 50 })).not.to.equal(undefined);
    expect(lateAnswers).to.be.greaterThan(1);
  });

  it('survives a hiccup of the API server', async () => {
    const lease = await acquire();
    let failures = 0;
    api.trouble = () => (failures++ < 5 ? new ApiError(500, 'etcd is away') : undefined);
    const first = spec()['renewTime'];
    await until(() => failures > 5 && spec()['renewTime'] !== first);
    let ended = false;
    void lease?.ended.then(() => (ended = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).to.equal(false);
  });

  it('is waited for until the signal', async () => {
    api.trouble = () => new ApiError(500, 'etcd is away');
    const lease = acquire();
    stop.abort();
    expect(await lease).to.equal(undefined);
  });

  it('hands on what its holder remembers, through renewals, and over a term in which nobody says anything', async () => {
    let memory: string | undefined;
    const first = await acquire({}, () => memory);
    expect(first?.memory).to.equal('');
    memory = 'seen up to 7';
    await until(() => remembered() === memory);
    memory = undefined;
    await first?.release();
    const second = await acquire();
    expect(second?.memory).to.equal('seen up to 7');
    const before = renewed;
    await until(() => renewed > before + 1);
    expect(remembered()).to.equal('seen up to 7');
  });
});

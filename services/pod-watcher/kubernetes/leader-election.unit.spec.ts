import { expect } from 'chai';
import { pause, timeoutSignal } from '../../../lib/process/abortable.ts';
import { FakeApi } from '../testing/fake-api.ts';
import { silentLogger, until } from '../testing/fakes.ts';
import { ApiError } from '../../../lib/kubernetes/client/api-error.ts';
import { acquireLease, type HeldLease } from '../../../lib/kubernetes/leader-election.ts';
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';

const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/ipledger-pod-watcher';

describe('Leader election', () => {
  let api: FakeApi;
  let stop: AbortController;
  let standbys: number;
  let renewals: number;
  beforeEach(() => {
    api = new FakeApi();
    stop = new AbortController();
    standbys = renewals = 0;
  });
  afterEach(() => stop.abort());

  const acquire = (more: object = {}, handoverState?: () => string | undefined): Promise<HeldLease | undefined> =>
    acquireLease({
      api,
      namespace: 'kube-system',
      name: 'ipledger-pod-watcher',
      log: silentLogger,
      signal: stop.signal,
      onStandby: () => (standbys += 1),
      onRenewed: () => (renewals += 1),
      ...(handoverState && { handoverState }),
      timings: { durationMs: 200, renewWithinMs: 30_000, renewEveryMs: 5, retryEveryMs: 5, ...more },
    });
  const spec = () => asRecord(api.objects.get(path)?.['spec']);
  const storedState = () => asRecord(asRecord(api.objects.get(path)?.metadata)['annotations'])['ipledger.io/memory'];
  const heldBy = (holderIdentity: string, leaseDurationSeconds = 1) =>
    api.put(path, {
      metadata: { name: 'ipledger-pod-watcher' },
      spec: { holderIdentity, leaseDurationSeconds, leaseTransitions: 4 },
    });

  it('Leader election creates the Lease and renews it', async () => {
    const lease = await acquire();
    expect(lease).not.to.equal(undefined);
    expect(spec()).to.include({ leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(spec()['renewTime']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const [first, acquired] = [spec()['renewTime'], spec()['acquireTime']];
    await until(() => spec()['renewTime'] !== first && renewals > 1);
    expect(spec()['acquireTime']).to.equal(acquired);
  });

  it('Leader election takes over a Lease only from a holder that stopped renewing it', async () => {
    heldBy('other');
    const since = performance.now();
    // Renews the Lease as another process, between the reads, for longer than its duration.
    api.failRequest = () => {
      if (performance.now() - since < 1_200) heldBy('other');
      else api.failRequest = undefined;
      return undefined;
    };
    const lease = acquire();
    await until(() => api.failRequest === undefined);
    expect(spec()['holderIdentity']).to.equal('other');
    expect(standbys).to.be.greaterThan(1);
    expect(await lease).not.to.equal(undefined);
    expect(spec()).to.include({ leaseTransitions: 5 });
  });

  it('Leader election takes over a released Lease without a wait', async () => {
    heldBy('');
    const lease = await acquire();
    expect(standbys).to.equal(0);
    await lease?.release();
    expect(spec()['holderIdentity']).to.equal('');
  });

  it('Leader election renews no more after a release that the API server refuses, so that a standby can take over', async () => {
    const lease = await acquire();
    await until(() => renewals > 0);
    api.failRequest = ({ method }) => (method === 'PUT' ? new ApiError(409, 'the Lease was renewed') : undefined);
    await lease?.release().catch(() => undefined);
    api.failRequest = undefined;
    const renewed = new Promise((resolve) => (api.onWrite = () => resolve('it was renewed')));
    expect(await Promise.race([lease?.ended, renewed])).to.equal(undefined);
  });

  it('Leader election releases the Lease also during a renewal', async () => {
    const lease = await acquire({ renewEveryMs: 30_000 }, () => 'state 7');
    const answer = api.request.bind(api);
    const renewal = Promise.withResolvers<void>();
    api.request = async (request) => {
      if (request.method === 'PUT') {
        api.request = answer;
        await renewal.promise;
      }
      return answer(request);
    };
    void lease?.store();
    await until(() => api.request === answer);
    const released = lease?.release();
    setImmediate(renewal.resolve);
    await released;
    expect(spec()['holderIdentity']).to.equal('');
    await lease?.ended;
  });

  it('Leader election ends when another process holds the Lease', async () => {
    const lease = await acquire();
    heldBy('other');
    await lease?.ended;
    expect(spec()['holderIdentity']).to.equal('other');
    await lease?.release();
    expect(spec()['holderIdentity'], 'what is another’s is not given back').to.equal('other');
  });

  it('Leader election ends when the Lease cannot be renewed in time', async () => {
    const lease = await acquire({ renewWithinMs: 100 });
    api.failRequest = () => new ApiError(500, 'etcd is away');
    await lease?.ended;
  });

  it('Leader election ends before a standby may take over, also when the API server fails slowly', async () => {
    const renewWithinMs = 2_000;
    const lease = await acquire({ renewWithinMs });
    const othersMay = pause(1.5 * renewWithinMs, stop.signal).then(() => 'others may take it');
    let requests = 0;
    api.request = async ({ signal }) => {
      // Uses most of the time for the first attempt; the second gets no response.
      const tooLong = requests++ === 0 ? timeoutSignal(0.9 * renewWithinMs, signal) : signal;
      await pause(60_000, tooLong);
      throw new ApiError(500, 'etcd is away');
    };
    expect(await Promise.race([lease?.ended, othersMay])).to.equal(undefined);
  });

  it('Leader election does not acquire the Lease by a response after its expiry', async () => {
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

  it('Leader election continues after short failures of the API server', async () => {
    const lease = await acquire();
    let failures = 0;
    api.failRequest = () => (failures++ < 5 ? new ApiError(500, 'etcd is away') : undefined);
    const first = spec()['renewTime'];
    await until(() => failures > 5 && spec()['renewTime'] !== first);
    let ended = false;
    void lease?.ended.then(() => (ended = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).to.equal(false);
  });

  it('Leader election waits for the Lease until it is aborted', async () => {
    api.failRequest = () => new ApiError(500, 'etcd is away');
    const lease = acquire();
    stop.abort();
    expect(await lease).to.equal(undefined);
  });

  it('Leader election passes on the handover state, also across a holder that wrote none', async () => {
    let state: string | undefined;
    const first = await acquire({}, () => state);
    expect(first?.handoverState).to.equal('');
    state = 'state 7';
    await until(() => storedState() === state);
    state = undefined;
    await first?.release();
    const second = await acquire();
    expect(second?.handoverState).to.equal('state 7');
    const before = renewals;
    await until(() => renewals > before + 1);
    expect(storedState()).to.equal('state 7');
  });

  it('Leader election reads and keeps the annotations that another client writes', async () => {
    const annotations = { 'ipledger.io/accepted-mass-deletion': '{}' };
    let seen: unknown;
    await acquireLease({
      api,
      namespace: 'kube-system',
      name: 'ipledger-pod-watcher',
      log: silentLogger,
      signal: stop.signal,
      onStandby: () => undefined,
      onRenewed: (read) => (seen = read),
      handoverState: () => 'state',
      timings: { renewEveryMs: 5 },
    });
    await until(() => storedState() === 'state');
    const lease = api.objects.get(path);
    const metadata = asRecord(lease?.metadata);
    api.put(path, {
      ...lease,
      metadata: { ...metadata, annotations: { ...asRecord(metadata['annotations']), ...annotations } },
    });
    await until(() => asRecord(seen)['ipledger.io/accepted-mass-deletion'] === '{}');
    expect(storedState()).to.equal('state');
  });

  it('Leader election stores the handover state without waiting for the next renewal', async () => {
    let state = 'state 1';
    const lease = await acquire({ renewEveryMs: 30_000 }, () => state);
    await lease?.store();
    expect(storedState()).to.equal('state 1');
    state = 'state 2';
    await lease?.store();
    expect(storedState()).to.equal('state 2');
    expect(renewals).to.equal(2);
  });

  it('Leader election stores the state of a call that arrives during a renewal', async () => {
    let state = 'state 1';
    const lease = await acquire({ renewEveryMs: 30_000 }, () => state);
    const stored: string[] = [];
    let second: Promise<void> | undefined;
    api.onWrite = () => {
      state = 'state 2';
      second ??= lease?.store().then(() => void stored.push(String(storedState())));
    };
    await lease?.store();
    await second;
    expect(stored).to.deep.equal(['state 2']);
  });

  it('Leader election never reports the handover state as stored after the Lease was lost', async () => {
    const lease = await acquire({}, () => 'state 7');
    heldBy('other');
    let isStored = false;
    void lease?.store().then(() => (isStored = true));
    await lease?.ended;
    await new Promise((resolve) => setImmediate(resolve));
    expect([isStored, storedState()]).to.deep.equal([false, undefined]);
  });

  it('Leader election stores the handover state by a later renewal when the API server fails', async () => {
    const lease = await acquire({ renewEveryMs: 20 }, () => 'state 7');
    let failures = 0;
    api.failRequest = () => (failures++ < 3 ? new ApiError(500, 'etcd is away') : undefined);
    await lease?.store();
    expect(storedState()).to.equal('state 7');
  });
});

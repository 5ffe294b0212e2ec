import { expect } from 'chai';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import { allocateAll } from '../../../../ledger/domain/testing/event-fixtures.ts';
import {
  waitForRetries,
  submitAll,
  failureOf,
  createLatch,
  never,
  startWriter,
} from '../../../../ledger/log/testing/running-writer.ts';
import { ipamHandlers } from './ipam-service.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  allocateRequest,
  release,
  sandboxOf,
  type ServedAllocator,
  serveAllocator,
} from '../testing/served-allocator.ts';
import { PodWaiters } from './pod-waiters.ts';

describe('Ipam.Wait', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());

  const wait = (pod: string, more: object = {}) => served.call(IpamService.wait, { ...sandboxOf(pod), ...more });
  const refused = (pod: string, more: object = {}) =>
    served.refusal(IpamService.wait, { ...sandboxOf(pod), timeoutMs: 50, ...more });

  /** Whether a promise is settled by now. */
  async function pending(promise: Promise<unknown>): Promise<boolean> {
    const unsettled = Symbol('unsettled');
    await waitForRetries();
    return (await Promise.race([promise, Promise.resolve(unsettled)])) === unsettled;
  }

  it('Ipam.Wait returns an existing allocation with its bindings', async () => {
    const allocation = await allocate(served, 'a');
    const { position, ...reply } = await wait('a');
    expect(reply.allocation).to.deep.equal(allocation);
    expect(position).to.include({ epoch: 1, seq: 3 });
    await bind(served, 'a');
    expect((await wait('a')).allocation?.bindings).to.have.length(1);
  });

  it('Wait returns when the allocation is made', async () => {
    const waiting = wait('a');
    expect(await pending(waiting)).to.be.true;
    await allocate(served, 'b');
    expect(await pending(waiting)).to.be.true;
    const allocation = await allocate(served, 'a');
    expect((await waiting).allocation).to.deep.equal(allocation);
  });

  it('an allocation ends all Waits for the same Pod', async () => {
    const waiting = Array.from({ length: 20 }, () => wait('a'));
    await waitForRetries();
    await allocate(served, 'a');
    for (const { allocation } of await Promise.all(waiting)) expect(allocation?.podUid).to.equal('uid-a');
  });

  it('Ipam.Wait ignores an allocation of another Pod of the same name', async () => {
    await allocate(served, 'a', {}, { uid: 'uid-before' });
    const waiting = wait('a');
    expect(await pending(waiting)).to.be.true;
    await allocate(served, 'a');
    expect((await waiting).allocation?.podUid).to.equal('uid-a');
  });

  it('Ipam.Wait ignores an allocation of another attachment', async () => {
    await applySubnet(served, 'other', { cidrBlock: '10.0.0.0/24' });
    await allocate(served, 'a', { provider: 'other.default', subnets: ['other'] });
    await allocate(served, 'b', { interface: 'data0' });
    expect(await refused('a')).to.have.property('code', 'NOT_REQUESTED');
    expect(await refused('b')).to.have.property('code', 'NOT_ALLOCATED');
    expect((await wait('b', { interface: 'data0' })).allocation?.interface).to.equal('data0');
  });

  it('Ipam.Wait waits for a Subnet that is created with the Pod', async () => {
    const waiting = wait('a', { provider: 'late.default' });
    expect(await pending(waiting)).to.be.true;
    await applySubnet(served, 'late', { cidrBlock: '10.0.0.0/24' });
    await allocate(served, 'a', { provider: 'late.default', subnets: ['late'] });
    expect((await waiting).allocation?.subnet).to.equal('late');
  });

  it('Ipam.Wait fails with NOT_REQUESTED when the allocator received no Allocate', async () => {
    expect(await refused('a')).to.deep.equal({
      status: 'NOT_FOUND',
      code: 'NOT_REQUESTED',
      message:
        "pod-watcher has requested no address within 0.1 s. Check that pod-watcher runs, and that the Pod's networks annotation names this network",
    });
  });

  it('Ipam.Wait fails with the reason why nothing can be written, before any other reason', async () => {
    await allocate(served, 'holder', { candidates: [{ addresses: ['172.17.0.100'] }] });
    await served.refusal(IpamService.allocate, allocateRequest('b', { candidates: [{ addresses: ['172.17.0.100'] }] }));
    const reason = { epoch: 1, seq: 99, hash: 'ab', by: 'ipledger://watcher', at: '2026-11-17T14:05:00.000Z' };
    await served.memory.freeze(reason, await served.memory.head(never), never);
    const frozen = {
      status: 'UNAVAILABLE',
      code: 'LEDGER_NOT_WRITABLE',
      message: 'the ledger is frozen: no address can be allocated or released. Run: ipledger recover',
    };
    expect(await refused('a')).to.deep.equal(frozen);
    expect(await refused('b'), 'refused earlier').to.deep.equal(frozen);
    expect((await wait('holder')).allocation?.podUid, 'it has its address').to.equal('uid-holder');
    await served.stepDown(undefined);
    const noWriter =
      'no allocator is the writer: no address can be allocated or released. Follow the runbook IpledgerNoWriter';
    expect([
      await refused('a'),
      await served.refusal(IpamService.bind, { ...sandboxOf('holder'), node: 'node-1' }),
    ]).to.deep.equal([
      { ...frozen, message: noWriter },
      { ...frozen, message: noWriter },
    ]);
  });

  it('the error does not blame the pod-watcher if the Pod has another attachment', async () => {
    await allocate(served, 'a');
    const { code, message } = await refused('a', { provider: 'ovn', interface: 'eth0' });
    expect([code, message]).to.deep.equal([
      'NOT_REQUESTED',
      'pod-watcher has requested no address of this network within 0.1 s, but others for the Pod. Check that the Pod or its namespace names a Subnet or an IPPool of provider ovn',
    ]);
  });

  it('Ipam.Wait fails with the last refusal of the Pod', async () => {
    await allocate(served, 'holder', { candidates: [{ addresses: ['172.17.0.100'] }] });
    const refusal = await served.refusal(
      IpamService.allocate,
      allocateRequest('a', { candidates: [{ addresses: ['172.17.0.100'] }] }),
    );
    const { status, code, message } = await refused('a');
    expect([status, code]).to.deep.equal(['NOT_FOUND', 'NOT_ALLOCATED']);
    expect(message).to.match(/^refused at \d{4}-\d\d-\d\dT[0-9:.]+Z: AddressConflict: 172\.17\.0\.100/);
    expect(message).to.contain(refusal.message);
  });

  it('Ipam.Wait fails at once after a refusal that only a person can change, and waits after any other refusal', async () => {
    const [address, mac] = ['172.17.0.70', '02:00:00:00:00:07'];
    const reservation = { subnet: 'macvlan', reservedFor: 'vip/web', reason: 'Vip object web' };
    await served.call(IpamService.reserve, { ...reservation, addresses: [address], mac });
    const seen = { seenMac: '52:54:00:00:00:01', seenAt: '', reason: 'a printer' };
    await served.call(IpamService.quarantine, { subnet: 'macvlan', address: '172.17.0.71', ...seen });
    for (const [pod, reason, request] of [
      ['out', 'AddressOutOfRange', { candidates: [{ addresses: ['10.9.9.9'] }] }],
      ['family', 'InvalidIPFamily', { ipFamily: 'ipv6' }],
      [
        'reserved',
        `.*${address} .* is reserved for vip/web .* object web.*unreserve`,
        { candidates: [{ addresses: [address] }] },
      ],
      [
        'printer',
        '.* is quarantined since .*run `ipledger unquarantine 172.17.0.71 --subnet macvlan --reason TEXT`',
        { candidates: [{ addresses: ['172.17.0.71'] }] },
      ],
      ['mac', `.*MAC ${mac} is reserved for vip/web`, { mac }],
    ] as const) {
      await served.refusal(IpamService.allocate, allocateRequest(pod, request));
      const { code, message } = await refused(pod, { timeoutMs: 60_000 });
      expect(code).to.equal('NOT_ALLOCATED');
      expect(message).to.match(new RegExp(`^refused at \\S+Z: ${reason}`));
    }
    await allocate(served, 'holder', { candidates: [{ addresses: ['172.17.0.100'] }] });
    const request = allocateRequest('a', { candidates: [{ addresses: ['172.17.0.100'] }] });
    await served.refusal(IpamService.allocate, request);
    const waiting = wait('a', { timeoutMs: 60_000 });
    await waitForRetries();
    expect(await pending(waiting)).to.equal(true);
    await release(served, 'holder');
    await served.call(IpamService.allocate, request);
    expect((await waiting).allocation?.addresses[0]?.address).to.equal('172.17.0.100');
  });

  it('Ipam.Wait ignores a refusal if an allocation followed it', async () => {
    await allocate(served, 'holder', { candidates: [{ addresses: ['172.17.0.100'] }] });
    const request = allocateRequest('a', { candidates: [{ addresses: ['172.17.0.100'] }] });
    await served.refusal(IpamService.allocate, request);
    await release(served, 'holder');
    await served.call(IpamService.allocate, request);
    await release(served, 'a');
    expect((await refused('a')).code).to.equal('NOT_REQUESTED');
  });

  it('Ipam.Wait fails early when no Subnet serves the provider', async () => {
    expect(await refused('a', { provider: 'unserved.default', timeoutMs: 60_000 })).to.deep.equal({
      status: 'FAILED_PRECONDITION',
      code: 'PROVIDER_UNBOUND',
      message: 'provider unserved.default is not bound to any subnet',
    });
  });

  it('Ipam.Wait rejects a request without a required field', async () => {
    expect(await refused('a', { podUid: '' })).to.deep.equal({
      status: 'INVALID_ARGUMENT',
      code: 'INVALID_REQUEST',
      message: 'pod_uid is missing',
    });
  });

  it('Ipam.Wait removes its waiter after an allocation, a timeout and a cancelled call', async () => {
    const waiters = new PodWaiters(served.replica);
    const { wait: handler } = ipamHandlers(served.allocator, waiters);
    if (!handler) throw new Error('Wait is served');
    const leaving = new AbortController();
    const request = { ...sandboxOf('a'), timeoutMs: 100 };
    const context = { actor: 'anonymous', signal: leaving.signal };
    const gone = failureOf(handler({ ...request, pod: 'gone', podUid: 'uid-gone' }, context));
    const answered = handler(request, { ...context, signal: never });
    const timedOut = failureOf(handler({ ...request, pod: 'late', podUid: 'uid-late' }, { ...context, signal: never }));
    await waitForRetries();
    expect(waiters.count).to.equal(3);
    leaving.abort();
    await allocate(served, 'a');
    await answered;
    expect(await gone).to.have.property('code', 'CANCELLED');
    expect(await timedOut).to.have.property('code', 'NOT_REQUESTED');
    expect(waiters.count).to.equal(0);
  });

  it('Wait returns nothing uncommitted', async () => {
    const held = createLatch();
    served.ledger.faults.push(async (append) => {
      await held.opened;
      return append();
    });
    const waiting = wait('a');
    await waitForRetries();
    const allocating = allocate(served, 'a');
    const late = wait('a');
    expect(await pending(Promise.race([waiting, late]))).to.be.true;
    held.open();
    const allocation = await allocating;
    for (const reply of await Promise.all([waiting, late])) expect(reply.allocation).to.deep.equal(allocation);
  });

  it('Wait continues when the writer becomes a standby', async () => {
    const waiting = wait('a');
    await waitForRetries();
    await served.stepDown(undefined);
    const next = await startWriter(served.memory);
    await submitAll(next.writer, allocateAll('a', [{}]));
    expect((await waiting).allocation?.addresses[0]?.address).to.equal('172.17.0.11');
    expect((await wait('a')).allocation?.addresses[0]?.address).to.equal('172.17.0.11');
    await next.stop();
  });
});

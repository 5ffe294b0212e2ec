import { expect } from 'chai';
import { IpamService } from '../../../proto/ipledger.ts';
import { allocateAll } from '../domain/specification.ts';
import { afterAWhile, carryOut, failureOf, gate, never, startWriter } from '../ledger/specification.ts';
import { ipamHandlers } from './ipam.ts';
import {
  allocate,
  applyMacvlan,
  applySubnet,
  bind,
  podAsks,
  release,
  sandboxOf,
  type Served,
  serveAllocator,
} from './specification.ts';
import { Waiting } from './waiting.ts';

describe('Ipam.Wait', () => {
  let served: Served;
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
    await afterAWhile();
    return (await Promise.race([promise, Promise.resolve(unsettled)])) === unsettled;
  }

  it('answers at once when the allocation is there, with its bindings', async () => {
    const allocation = await allocate(served, 'a');
    const { position, ...reply } = await wait('a');
    expect(reply.allocation).to.deep.equal(allocation);
    expect(position).to.include({ epoch: 1, seq: 3 });
    await bind(served, 'a');
    expect((await wait('a')).allocation?.bindings).to.have.length(1);
  });

  it('answers as soon as the allocation is made', async () => {
    const waiting = wait('a');
    expect(await pending(waiting)).to.be.true;
    await allocate(served, 'b');
    expect(await pending(waiting)).to.be.true;
    const allocation = await allocate(served, 'a');
    expect((await waiting).allocation).to.deep.equal(allocation);
  });

  it('answers everybody who waits for the same', async () => {
    const waiting = Array.from({ length: 20 }, () => wait('a'));
    await afterAWhile();
    await allocate(served, 'a');
    for (const { allocation } of await Promise.all(waiting)) expect(allocation?.podUid).to.equal('uid-a');
  });

  it('does not take another Pod of that name for the one it waits for', async () => {
    await allocate(served, 'a', {}, { uid: 'uid-before' });
    const waiting = wait('a');
    expect(await pending(waiting)).to.be.true;
    await allocate(served, 'a');
    expect((await waiting).allocation?.podUid).to.equal('uid-a');
  });

  it('does not take another attachment for the one it waits for', async () => {
    await applySubnet(served, 'other', { cidrBlock: '10.0.0.0/24' });
    await allocate(served, 'a', { provider: 'other.default', subnets: ['other'] });
    await allocate(served, 'b', { interface: 'net2' });
    expect(await refused('a')).to.have.property('code', 'NOT_REQUESTED');
    expect(await refused('b')).to.have.property('code', 'NOT_ALLOCATED');
    expect((await wait('b', { interface: 'net2' })).allocation?.interface).to.equal('net2');
  });

  it('waits for a subnet of the provider, too, which may come with the Pod', async () => {
    const waiting = wait('a', { provider: 'late.default' });
    expect(await pending(waiting)).to.be.true;
    await applySubnet(served, 'late', { cidrBlock: '10.0.0.0/24' });
    await allocate(served, 'a', { provider: 'late.default', subnets: ['late'] });
    expect((await waiting).allocation?.subnet).to.equal('late');
  });

  it('says that nothing was asked for, when nothing was', async () => {
    expect(await refused('a')).to.deep.equal({
      status: 'NOT_FOUND',
      code: 'NOT_REQUESTED',
      message:
        "pod-watcher has requested no address within 50 ms. Check that pod-watcher runs, and that the Pod's networks annotation names this network",
    });
  });

  it('says why the Pod was refused, when it was', async () => {
    await allocate(served, 'holder', { candidates: [{ addresses: ['172.17.0.100'] }] });
    const refusal = await served.refusal(
      IpamService.allocate,
      podAsks('a', { candidates: [{ addresses: ['172.17.0.100'] }] }),
    );
    const { status, code, message } = await refused('a');
    expect([status, code]).to.deep.equal(['NOT_FOUND', 'NOT_ALLOCATED']);
    expect(message).to.match(/^refused at \d{4}-\d\d-\d\dT[0-9:.]+Z: AddressConflict: 172\.17\.0\.100/);
    expect(message).to.contain(refusal.message);
  });

  it('forgets the refusal when the Pod got its address after all', async () => {
    await allocate(served, 'holder', { candidates: [{ addresses: ['172.17.0.100'] }] });
    const asks = podAsks('a', { candidates: [{ addresses: ['172.17.0.100'] }] });
    await served.refusal(IpamService.allocate, asks);
    await release(served, 'holder');
    await served.call(IpamService.allocate, asks);
    await release(served, 'a');
    expect((await refused('a')).code).to.equal('NOT_REQUESTED');
  });

  it('says that no subnet has the provider, and not only after the whole time', async () => {
    expect(await refused('a', { provider: 'nobody.default', timeoutMs: 60_000 })).to.deep.equal({
      status: 'FAILED_PRECONDITION',
      code: 'PROVIDER_UNBOUND',
      message: 'provider nobody.default is not bound to any subnet',
    });
  });

  it('refuses a request that leaves something out', async () => {
    expect(await refused('a', { podUid: '' })).to.deep.equal({
      status: 'INVALID_ARGUMENT',
      code: 'INVALID_REQUEST',
      message: 'pod_uid is missing',
    });
  });

  it('leaves nothing behind, whether the allocation came, the time was up, or the caller is gone', async () => {
    const waiting = new Waiting(served.replica);
    const { wait: handler } = ipamHandlers(served.allocator, waiting);
    if (!handler) throw new Error('Wait is served');
    const leaving = new AbortController();
    const request = { ...sandboxOf('a'), timeoutMs: 100 };
    const context = { actor: 'anonymous', signal: leaving.signal };
    const gone = failureOf(handler({ ...request, pod: 'gone', podUid: 'uid-gone' }, context));
    const answered = handler(request, { ...context, signal: never });
    const tired = failureOf(handler({ ...request, pod: 'tired', podUid: 'uid-tired' }, { ...context, signal: never }));
    await afterAWhile();
    expect(waiting.count).to.equal(3);
    leaving.abort();
    await allocate(served, 'a');
    await answered;
    expect(await gone).to.have.property('code', 'CANCELLED');
    expect(await tired).to.have.property('code', 'NOT_REQUESTED');
    expect(waiting.count).to.equal(0);
  });

  it('answers nothing that is not committed', async () => {
    const held = gate();
    served.ledger.faults.push(async (append) => {
      await held.opened;
      return append();
    });
    const waiting = wait('a');
    await afterAWhile();
    const allocating = allocate(served, 'a');
    const late = wait('a');
    expect(await pending(Promise.race([waiting, late]))).to.be.true;
    held.open();
    const allocation = await allocating;
    for (const reply of await Promise.all([waiting, late])) expect(reply.allocation).to.deep.equal(allocation);
  });

  it('goes on when the writer becomes a standby meanwhile', async () => {
    const waiting = wait('a');
    await afterAWhile();
    await served.stepDown(undefined);
    const next = await startWriter(served.memory);
    await carryOut(next.writer, allocateAll('a', [{}]));
    expect((await waiting).allocation?.addresses[0]?.address).to.equal('172.17.0.11');
    expect((await wait('a')).allocation?.addresses[0]?.address).to.equal('172.17.0.11');
    await next.stop();
  });
});

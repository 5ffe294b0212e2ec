import { expect } from 'chai';
import { call } from '../../../../lib/grpc/client.ts';
import { IpamService } from '../../../../proto/generated/ipledger.ts';
import { createLatch, failureOf, waitForRetries } from '../../../../ledger/log/testing/running-writer.ts';
import {
  allocate,
  applyMacvlan,
  bind,
  release,
  sandboxOf,
  type ServedAllocator,
  serveAllocator,
  unbind,
} from '../testing/served-allocator.ts';

const attachRequest = (pod: string) => ({ ...sandboxOf(pod), node: 'node-1', bootId: 'boot-1' });

describe('Ipam.Attach', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());

  const attach = (pod: string, more: object = {}) =>
    served.call(IpamService.attach, { ...attachRequest(pod), ...more });
  const refused = (pod: string, more: object = {}) =>
    served.refusal(IpamService.attach, { ...attachRequest(pod), timeoutMs: 50, ...more });
  const containers = async () => {
    const { bindings } = await served.call(IpamService.listBindings, {});
    return bindings.map(({ binding }) => binding?.containerId);
  };

  it('Ipam.Attach binds an existing allocation, and returns the same reply as Bind', async () => {
    await allocate(served, 'a');
    const reply = await attach('a');
    expect(reply.allocation?.bindings).to.have.length(1);
    expect(served.replica.head.seq).to.equal(4);
    expect(await bind(served, 'a')).to.deep.equal(reply);
    expect(await attach('a')).to.deep.equal(reply);
    expect(served.replica.head.seq).to.equal(4);
  });

  it('Attach binds when the allocation is made', async () => {
    const attaching = attach('a');
    await waitForRetries();
    await allocate(served, 'a');
    expect((await attaching).allocation?.bindings).to.have.length(1);
    expect(await containers()).to.deep.equal(['container-of-a']);
  });

  it('Ipam.Attach waits for the Pod of this uid', async () => {
    await allocate(served, 'a', {}, { uid: 'uid-before' });
    const attaching = attach('a');
    await waitForRetries();
    expect(await containers()).to.deep.equal([]);
    await allocate(served, 'a');
    expect((await attaching).allocation?.podUid).to.equal('uid-a');
  });

  it('Attach fails like Wait when there is no allocation in time, and binds nothing', async () => {
    expect(await refused('a')).to.include({ status: 'NOT_FOUND', code: 'NOT_REQUESTED' });
    expect(await refused('a', { provider: 'unserved.default' })).to.include({ code: 'PROVIDER_UNBOUND' });
    expect(await refused('a', { node: '' })).to.include({ code: 'INVALID_REQUEST', message: 'node is missing' });
    await allocate(served, 'a');
    expect(await containers()).to.deep.equal([]);
  });

  it('Ipam.Attach requests a probe from the only container of an address, if the Subnet has probeAddresses', async () => {
    await allocate(served, 'a');
    expect(await attach('a')).to.include({ probeAddresses: false });
    await applyMacvlan(served, { probeAddresses: true });
    expect(await attach('a')).to.include({ probeAddresses: true });
    expect(await served.call(IpamService.wait, sandboxOf('a'))).to.include({ probeAddresses: true });
    expect(await attach('a', { containerId: 'second' })).to.include({ probeAddresses: false });
  });

  it('after a reported conflict binds another address, and the record of the first has MAC and node', async () => {
    await applyMacvlan(served, { probeAddresses: true });
    await allocate(served, 'a');
    const address = (await attach('a')).allocation?.addresses[0]?.address ?? '';
    const conflict = { ...sandboxOf('a'), node: 'node-1', address, seenMac: '52:54:00:12:34:56' };
    expect(await served.refusal(IpamService.reportConflict, { ...conflict, seenMac: '' })).to.include({
      code: 'INVALID_REQUEST',
      message: 'seen_mac is missing',
    });
    await served.call(IpamService.reportConflict, conflict);
    expect((await attach('a')).allocation?.addresses[0]?.address).to.not.equal(address);
    const { record } = await served.call(IpamService.getAddress, { subnet: 'macvlan', address });
    expect(record).to.include({ state: 'quarantined' });
    expect(record?.quarantine).to.include({ seenMac: '52:54:00:12:34:56', seenAt: 'node-1' });
    expect(await served.refusal(IpamService.reportConflict, conflict)).to.include({ code: 'NOT_ALLOCATED' });
  });

  it('a conflict of an agent that has seen an event which a restored ledger lacks changes nothing', async () => {
    await applyMacvlan(served, { probeAddresses: true });
    await allocate(served, 'a');
    const { position, allocation } = await attach('a');
    const [assigned] = allocation?.addresses ?? [];
    const seq = position?.seq ?? 0;
    const conflict = { ...sandboxOf('a'), node: 'node-1', address: assigned?.address, seenMac: '52:54:00:12:34:56' };
    const refusal = await served.refusal(IpamService.reportConflict, { ...conflict, seenSeq: seq + 1 });
    expect(refusal).to.include({ code: 'UNAVAILABLE' });
    expect(refusal.message).to.contain(`has seen event ${seq + 1}, and the ledger is at event ${seq}`);
    expect((await attach('a')).allocation?.addresses).to.deep.equal([assigned]);
    await served.call(IpamService.reportConflict, { ...conflict, seenSeq: seq });
    expect((await attach('a')).allocation?.addresses).to.not.deep.equal([assigned]);
  });

  it('Attach fails like Bind while a container on another node may answer', async () => {
    await allocate(served, 'a');
    await bind(served, 'a');
    expect(await refused('a', { containerId: 'other', node: 'node-2' })).to.include({ code: 'ADDRESS_ANSWERING' });
    expect(await containers()).to.deep.equal(['container-of-a']);
  });

  it('Ipam.Attach binds nothing when its caller disconnects during the wait', async () => {
    const caller = new AbortController();
    const options = { timeoutMs: 20_000, signal: caller.signal };
    const attaching = failureOf(call(served.client, IpamService.attach, attachRequest('a'), options));
    await waitForRetries();
    caller.abort();
    expect(await attaching).to.have.property('code', 'CANCELLED');
    await unbind(served, 'a');
    await allocate(served, 'a');
    expect(await containers()).to.deep.equal([]);
  });

  it('Ipam.Attach leaves no binding after an Unbind that follows a call without a reply', async () => {
    await allocate(served, 'a');
    const held = createLatch();
    served.ledger.faults.push(async (append) => {
      await held.opened;
      return append();
    });
    const caller = new AbortController();
    const options = { timeoutMs: 20_000, signal: caller.signal };
    const attaching = failureOf(call(served.client, IpamService.attach, attachRequest('a'), options));
    await waitForRetries();
    caller.abort();
    expect(await attaching).to.have.property('code', 'CANCELLED');
    const unbinding = unbind(served, 'a');
    held.open();
    expect((await unbinding).unbound).to.equal(1);
    expect(await containers()).to.deep.equal([]);
  });

  it('Ipam.Attach acknowledges nothing before the Bind is committed', async () => {
    const held = createLatch();
    await allocate(served, 'a');
    served.ledger.faults.push(async (append) => {
      await held.opened;
      return append();
    });
    const attaching = attach('a');
    await waitForRetries();
    expect(served.replica.head.seq).to.equal(3);
    held.open();
    expect((await attaching).position?.seq).to.equal(4);
  });

  it('Ipam.Attach waits again when an operator releases the allocation of the Pod and it is made again', async () => {
    await allocate(served, 'a');
    await release(served, 'a', 'RELEASE_CAUSE_OPERATOR');
    const attaching = attach('a');
    await waitForRetries();
    await allocate(served, 'a');
    expect((await attaching).allocation?.bindings).to.have.length(1);
  });

  describe('on a standby', () => {
    let standby: ServedAllocator;
    beforeEach(async () => {
      standby = await serveAllocator(served.memory);
      await standby.stepDown(served.endpoint);
    });
    afterEach(() => standby[Symbol.asyncDispose]());

    it('Attach on a standby waits there, and binds through the writer', async () => {
      const attaching = standby.call(IpamService.attach, attachRequest('a'));
      await waitForRetries();
      await allocate(served, 'a');
      expect((await attaching).allocation?.bindings).to.have.length(1);
      expect(await containers()).to.deep.equal(['container-of-a']);
    });

    it('Ipam.Attach on a standby binds an existing allocation through the writer', async () => {
      await allocate(served, 'a');
      expect((await standby.call(IpamService.attach, attachRequest('a'))).allocation?.bindings).to.have.length(1);
      const other = { ...attachRequest('b'), timeoutMs: 50 };
      expect(await standby.refusal(IpamService.attach, other)).to.have.property('code', 'NOT_REQUESTED');
    });
  });
});

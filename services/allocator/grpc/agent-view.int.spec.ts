import { expect } from 'chai';
import type { IpledgerError } from '../../../lib/errors.ts';
import type { CallContext } from '../../../lib/grpc/server/serve.ts';
import { failureOf, never } from '../../../ledger/log/testing/running-writer.ts';
import { attach, bind } from './ipam/bind.ts';
import { PodWaiters } from './ipam/pod-waiters.ts';
import { waitForAllocation } from './ipam/wait.ts';
import {
  allocate,
  applyMacvlan,
  allocateRequest,
  sandboxOf,
  type ServedAllocator,
  serveAllocator,
} from './testing/served-allocator.ts';
import { type Allocation, IpamService } from '../../../proto/generated/ipledger.ts';
import type { MessageInput } from '../../../proto/codec.ts';

/** Names that an agent of node-1 must not learn: another Pod, its uid, its container, its node. */
const secret = /holder|uid-|container-of-|node-2|boot-2/;
const address = '172.17.3.1';
const fixed = { candidates: [{ addresses: [address] }] };

describe('An agent learns nothing of Pods of other nodes', () => {
  let served: ServedAllocator;
  let waiters: PodWaiters;
  beforeEach(async () => {
    served = await serveAllocator();
    waiters = new PodWaiters(served.replica);
    await applyMacvlan(served);
  });
  afterEach(() => served[Symbol.asyncDispose]());

  const agentOf = (node: string): CallContext => ({ actor: `ipledger://agent/${node}`, ownNode: node, signal: never });
  const sandbox = (pod: string, more: object) => ({ ...sandboxOf(pod), ...more });
  const waitOn = (node: string, pod: string, more: object = {}) =>
    waitForAllocation(served.allocator, waiters, { ...sandbox(pod, more), timeoutMs: 1 }, agentOf(node));
  const bindOn = (node: string, pod: string, more: object = {}) =>
    bind(served.allocator, { ...sandbox(pod, more), node, bootId: `boot-of-${node}` }, agentOf(node));
  const attachOn = (node: string, pod: string) =>
    attach(
      served.allocator,
      waiters,
      { ...sandboxOf(pod), node, bootId: `boot-of-${node}`, timeoutMs: 1 },
      agentOf(node),
    );
  const errorOf = async (calling: Promise<unknown>): Promise<Pick<IpledgerError, 'code' | 'message'>> => {
    const { code, message } = await failureOf(calling);
    return { code, message };
  };
  const nodesOf = ({ allocation }: { readonly allocation?: MessageInput<Allocation> | undefined }) =>
    (allocation?.bindings ?? []).map(({ node }) => node);

  it('an agent learns nothing of Pods of other nodes from the refusal of a Pod', async () => {
    await allocate(served, 'holder', fixed, { node: 'node-2' });
    const refusal = await served.refusal(IpamService.allocate, allocateRequest('victim', fixed, { node: 'node-1' }));
    expect(refusal.message).to.contain('Pod default/holder (uid uid-holder');
    for (const calling of [waitOn('node-1', 'victim'), attachOn('node-1', 'victim')]) {
      const { code, message } = await errorOf(calling);
      expect(code).to.equal('NOT_ALLOCATED');
      expect(message).to.match(/^refused at \S+Z: AddressConflict: 172\.17\.3\.1 of subnet macvlan is not free$/);
    }
    expect(await errorOf(waitOn('node-1', 'other', { podUid: 'uid-victim' }))).to.have.property(
      'code',
      'NOT_REQUESTED',
    );
  });

  it('an agent learns nothing of Pods of other nodes from the refusal of a MAC', async () => {
    const mac = '02:00:00:00:00:07';
    await allocate(served, 'holder', { mac }, { node: 'node-2' });
    await served.refusal(IpamService.allocate, allocateRequest('victim', { mac }, { node: 'node-1' }));
    const { message } = await errorOf(waitOn('node-1', 'victim'));
    expect(message).to.match(/AddressConflict: the requested MAC is not free$/);
  });

  it('an agent learns nothing of Pods of other nodes from the refusal of a reserved or quarantined address or MAC, which states the remedy', async () => {
    const [address, mac] = ['172.17.3.1', '02:00:00:00:00:07'];
    const owner = { subnet: 'macvlan', reservedFor: 'pod/default/holder/macvlan.default', reason: 'IP object holder' };
    await served.call(IpamService.reserve, { ...owner, addresses: [address], mac });
    const seen = { seenMac: '52:54:00:00:00:01', seenAt: 'node-2', reason: 'a printer' };
    await served.call(IpamService.quarantine, { subnet: 'macvlan', address: '172.17.3.2', ...seen });
    for (const [pod, request, text] of [
      ['a', fixed, `${address} of subnet macvlan is reserved for another owner: end the reservation, or request`],
      [
        'b',
        { candidates: [{ addresses: ['172.17.3.2'] }] },
        '172.17.3.2 of subnet macvlan is quarantined: remove the host',
      ],
      ['c', { mac }, 'the requested MAC is reserved for another owner, or of a quarantined address: end that'],
    ] as const) {
      await served.refusal(IpamService.allocate, allocateRequest(pod, request, { node: 'node-1' }));
      const { message } = await errorOf(waitOn('node-1', pod));
      expect(message).to.contain(`: AddressConflict: ${text}`);
      expect(message).to.not.match(/holder|node-2/);
    }
  });

  it('an agent gets the cause of a refusal that names no other Pod', async () => {
    const { message } = await served.refusal(
      IpamService.allocate,
      allocateRequest('victim', { pool: 'unknown' }, { node: 'node-1' }),
    );
    expect((await errorOf(waitOn('node-1', 'victim'))).message).to.contain(message);
  });

  it('an agent learns nothing of Pods of other nodes from a Wait for another Pod of the same name', async () => {
    await allocate(served, 'again', {}, { uid: 'uid-holder', node: 'node-2' });
    const { code, message } = await errorOf(waitOn('node-1', 'again'));
    expect(code).to.equal('NOT_ALLOCATED');
    expect(message)
      .to.match(/belongs to another uid.*re-created under its name/)
      .and.not.match(/uid-holder|node-2/);
  });

  it('an agent learns nothing of Pods of other nodes from replies about a virtual machine that is on two nodes', async () => {
    const owner = { kind: 'VirtualMachineInstance', name: 'vm', uid: 'uid-of-vm' };
    await allocate(served, 'vm', {}, { node: 'node-1', owner });
    await bindOn('node-2', 'vm', { containerId: 'on-node-2' });
    expect(nodesOf(await bindOn('node-1', 'vm', { containerId: 'on-node-1' }))).to.deep.equal(['node-1']);
    expect(nodesOf(await waitOn('node-1', 'vm'))).to.deep.equal(['node-1']);
    expect(nodesOf(await attachOn('node-1', 'vm'))).to.deep.equal(['node-1', 'node-1']);
  });

  it('an agent learns nothing of Pods of other nodes from a Bind while a container of another node may still answer', async () => {
    await allocate(served, 'db', fixed, { uid: 'uid-holder', node: 'node-2' });
    await bindOn('node-2', 'db', { podUid: 'uid-holder' });
    await allocate(served, 'db', fixed, { node: 'node-1' });
    const { code, message } = await errorOf(bindOn('node-1', 'db'));
    expect(code).to.equal('ADDRESS_ANSWERING');
    expect(message).to.contain(
      '172.17.3.1 of subnet macvlan cannot be bound on node node-1: a container on another node',
    );
    expect(message).to.not.match(secret);
  });

  it('a caller without an own node gets the names of other Pods and nodes', async () => {
    await allocate(served, 'again', {}, { uid: 'uid-holder', node: 'node-2' });
    const refusal = await served.refusal(IpamService.wait, { ...sandboxOf('again'), timeoutMs: 1 });
    expect(refusal.message).to.contain('uid-holder');
  });
});

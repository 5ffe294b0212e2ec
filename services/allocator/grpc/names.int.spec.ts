import { expect } from 'chai';
import type { MessageInput, Method } from '../../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import type * as api from '../../../proto/generated/ipledger.ts';
import { isPrintable } from '../../../lib/unprintable.ts';
import { logOf } from '../../../ledger/log/testing/running-writer.ts';
import {
  allocate,
  allocateRequest,
  applyMacvlan,
  type ServedAllocator,
  sandboxOf,
  serveAllocator,
} from './testing/served-allocator.ts';

/**
 * Names that no object of Kubernetes, no container and no Linux interface can have: parts of keys,
 * escapes, other scripts.
 */
const impossibleNames = [
  'a/b',
  '__proto__',
  '..',
  '-a',
  'a b',
  'a\u202eb',
  'a\u001b[2J',
  'a\u009bb',
  'ä',
  'a\u200b',
  'A_B',
  '{}',
];
/** Invalid ids and interfaces. These may have upper-case letters and "_". */
const impossibleIds = ['a/b', '..', 'a b', 'a\u202eb', 'a\u001b[2J', 'ä', 'a\u200b'];

const bindRequest = (name: string) => ({ ...sandboxOf(name), node: 'node-1', bootId: 'boot-1' });

describe('A request', () => {
  let served: ServedAllocator;
  beforeEach(async () => {
    served = await serveAllocator();
    await applyMacvlan(served);
    await allocate(served, 'a');
  });
  afterEach(() => served[Symbol.asyncDispose]());

  async function refused<Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
    what: string,
  ): Promise<string> {
    const { seq } = served.replica.head;
    const { status, message } = await served.refusal(method, request);
    expect(status, what).to.equal('INVALID_ARGUMENT');
    expect(served.replica.head.seq, what).to.equal(seq);
    expect(isPrintable(message), `${what}: ${message}`).to.equal(true);
    return message;
  }

  const subnet = (change: MessageInput<api.SubnetSpec>) => ({
    name: 'other',
    spec: { cidrBlock: '10.9.0.0/24', provider: 'other.default', ...change },
  });

  it('a request to apply a Subnet is refused for a name or provider that a network cannot have', async () => {
    for (const name of impossibleNames) {
      await refused(SubnetsService.applySubnet, { ...subnet({}), name }, JSON.stringify(name));
      const message = await refused(SubnetsService.applySubnet, subnet({ provider: name }), JSON.stringify(name));
      expect(message).to.match(/is not a valid provider: /);
    }
    await refused(SubnetsService.applySubnet, { ...subnet({}), source: { uid: 'a\u202eb' } }, 'source');
    expect((await served.call(SubnetsService.applySubnet, subnet({ provider: 'ovn' }))).subnet?.name).to.equal('other');
  });

  it('a request to apply a pool is refused for a name or namespace that cannot exist', async () => {
    const spec = { subnet: 'macvlan', ips: ['172.17.0.9'] };
    for (const name of impossibleNames) {
      await refused(SubnetsService.applyPool, { name, spec }, JSON.stringify(name));
      await refused(
        SubnetsService.applyPool,
        { name: 'p', spec: { ...spec, namespaces: [name] } },
        JSON.stringify(name),
      );
    }
  });

  it('a request to allocate is refused for names and ids that cannot exist', async () => {
    const request = allocateRequest('b');
    const pod = { namespace: 'default', name: 'b', uid: 'uid-b', node: 'node-1' };
    for (const name of impossibleNames) {
      const what = JSON.stringify(name);
      await refused(IpamService.allocate, { ...request, pod: { ...pod, namespace: name } }, what);
      await refused(IpamService.allocate, { ...request, pod: { ...pod, name } }, what);
      await refused(IpamService.allocate, { ...request, pod: { ...pod, node: name } }, what);
      await refused(IpamService.allocate, allocateRequest('b', { provider: name }), what);
    }
    for (const id of impossibleIds) {
      const what = JSON.stringify(id);
      await refused(IpamService.allocate, { ...request, pod: { ...pod, uid: id } }, what);
      await refused(IpamService.allocate, allocateRequest('b', { interface: id }), what);
    }
    await served.call(IpamService.allocate, { ...request, pod });
  });

  it('a request to allocate is recorded with an escaped owner, because a tenant can write any text into an ownerReference', async () => {
    const hostile = 'db\u001b[2J\u202e';
    const owner = { kind: hostile, name: hostile, uid: hostile };
    await allocate(served, 'b', {}, { owner });
    const text = (await logOf(served.ledger)).at(-1)?.text;
    expect(text)
      .to.contain('"name":"db\\\\u001b[2J\\\\u202e"')
      .and.match(/^[ -~]*$/);
  });

  it('a request to bind is refused for a container, interface, node or boot id that cannot exist', async () => {
    for (const id of impossibleIds) {
      const what = JSON.stringify(id);
      await refused(IpamService.bind, { ...bindRequest('a'), containerId: id }, what);
      await refused(IpamService.bind, { ...bindRequest('a'), interface: id }, what);
      await refused(IpamService.bind, { ...bindRequest('a'), node: id }, what);
    }
    await refused(IpamService.bind, { ...bindRequest('a'), bootId: 'a\u001b[2J' }, 'boot id');
    await served.call(IpamService.bind, { ...bindRequest('a'), bootId: 'first boot' });
  });

  it('a request to reserve is refused for an owner with control characters', async () => {
    for (const reservedFor of ['vip/a\u202eb', 'vip/a\u001b[2J', 'pod/default/a\nb/p'])
      await refused(IpamService.reserve, { subnet: 'macvlan', reservedFor }, JSON.stringify(reservedFor));
  });

  it('control characters in the reasons of a request are escaped in the record', async () => {
    const cause = 'RELEASE_CAUSE_OPERATOR';
    const hostile = 'because\u001b[2J\u202eof\nme';
    const reservedFor = 'vip/web';
    await served.call(IpamService.reserve, { subnet: 'macvlan', reservedFor, reason: hostile });
    const address = '172.17.0.77';
    await served.call(IpamService.quarantine, { subnet: 'macvlan', address, reason: hostile, seenAt: hostile });
    await served.call(IpamService.unquarantine, { subnet: 'macvlan', address, reason: hostile });
    await served.call(IpamService.unreserve, { subnet: 'macvlan', reservedFor, reason: hostile });
    await served.call(IpamService.release, {
      namespace: 'default',
      pod: 'a',
      podUid: 'uid-a',
      cause,
      evidence: hostile,
    });
    const texts = (await logOf(served.ledger)).slice(-5).map(({ text }) => text);
    for (const text of texts) {
      expect(text).to.contain('because\\\\u001b[2J\\\\u202eof\\\\u000ame');
      expect(text).to.match(/^[ -~]*$/);
    }
  });

  it('a request for texts of a Pod is refused and recorded with a message without control characters', async () => {
    const hostile = 'a\u001b[2J\u202eb';
    for (const attachment of [{ mac: hostile }, { pool: hostile }, { subnets: [hostile] }]) {
      const { message } = await served.refusal(IpamService.allocate, allocateRequest('b', attachment));
      expect(message)
        .to.contain('a\\u001b[2J\\u202eb')
        .and.match(/^[ -~]*$/);
    }
    for (const { text } of await logOf(served.ledger)) expect(text).to.match(/^[ -~]*$/);
    expect((await logOf(served.ledger)).map(({ envelope }) => envelope.type)).to.include('AllocationRefused');
  });

  it('a request about an allocation of an earlier version is accepted with its invalid names', async () => {
    for (const name of ['A_B', 'a.b:c']) {
      const cause = 'RELEASE_CAUSE_POD_DELETED';
      await served.call(IpamService.release, { namespace: name, pod: name, podUid: name, cause });
      await served.call(IpamService.unbind, {
        containerId: name,
        interface: name,
        cause: 'UNBIND_CAUSE_CONTAINER_DELETED' as const,
      });
    }
    await served.call(LedgerService.history, { namespace: 'A_B', pod: 'A_B' });
  });
});

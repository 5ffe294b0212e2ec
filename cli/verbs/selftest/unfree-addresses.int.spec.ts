import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { MessageInput } from '../../../proto/codec.ts';
import type { AddressRecord } from '../../../proto/generated/ipledger.ts';
import { openAllocatorClient } from '../../clients/ledger-client.ts';
import { startFakeAllocator } from '../../testing/fake-allocator.ts';
import type { TestPlan } from './test-objects.ts';
import { findUnfreeAddresses } from './unfree-addresses.ts';
import { plan } from './testing/test-plan.fixture.ts';

const allocated = { addressAllocated: {}, type: 'AddressAllocated', subnet: 'lan', before: [{ address: '10.0.0.5' }] };

/** What is left of an address that a Pod of the selftest had. */
async function findLeft(record: MessageInput<AddressRecord> | undefined, of: TestPlan = plan): Promise<string[]> {
  await using allocator = await startFakeAllocator({
    history: () => ({
      events: [{ type: 'AddressReleased', subnet: 'lan', before: [{ address: '10.0.0.5' }] }, allocated],
    }),
    getAddress: () => {
      if (!record) throw new IpledgerError('UNAVAILABLE', 'it is down');
      return { record: { subnet: 'lan', address: '10.0.0.5', ...record } };
    },
  });
  using client = openAllocatorClient({ endpoint: allocator.endpoint }, new AbortController().signal);
  return await findUnfreeAddresses(of, client);
}

describe('The addresses that a selftest leaves', () => {
  it('The addresses that a selftest leaves are those in cooldown, held by a container, or not released, with the time', async () => {
    const binding = { containerId: 'c'.repeat(64), node: 'n', at: '2026-01-31T07:00:00Z' };
    const namespace = 'ipledger-selftest-1a2b';
    expect(await findLeft({ state: 'cooldown', availableAt: '2026-01-31T08:01:00Z' })).to.deep.equal([
      '10.0.0.5 of subnet lan is in cooldown until 2026-01-31T08:01:00Z',
    ]);
    const [held = ''] = await findLeft({ state: 'held', bindings: [binding] });
    expect(held).to.match(
      /^10\.0\.0\.5 of subnet lan is held: container c+ on node n.* may still answer on it; .*kubectl delete node n/,
    );
    const allocation = { attachment: { namespace, pod: 'on-1' }, bindings: [] };
    expect(await findLeft({ state: 'bound', allocation })).to.deep.equal([
      '10.0.0.5 of subnet lan is not released. Run: ipledger why ipledger-selftest-1a2b/on-1',
    ]);
  });

  it('The addresses that a selftest leaves are none when they are free, or of another Pod, and in a network of its own', async () => {
    expect(await findLeft({ state: 'idle' })).to.deep.equal([]);
    const allocation = { attachment: { namespace: 'default', pod: 'web' }, bindings: [] };
    expect(await findLeft({ state: 'bound', allocation })).to.deep.equal([]);
    const network = { master: 'eth1', cidr: '10.9.9.0/28', socket: '/run/agent.sock' };
    expect(await findLeft({ state: 'cooldown' }, { ...plan, network })).to.deep.equal([]);
  });

  it('The addresses that a selftest leaves are not known when the allocator does not answer', async () => {
    expect(await findLeft(undefined)).to.deep.equal(['the addresses of the Pods could not be read: it is down']);
  });
});

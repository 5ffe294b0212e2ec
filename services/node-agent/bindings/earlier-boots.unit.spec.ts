import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { sandboxBinding, failTimes, FakeBindingClient, neverAborted } from '../testing/fakes.ts';
import { createEarlierBoots } from './earlier-boots.ts';
import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';

function setUp(allocator: FakeBindingClient) {
  const runExclusive = createKeyedMutex();
  const deps = { allocator, node: 'node-a', runExclusive, log: pino({ level: 'silent' }) };
  return { runExclusive, boots: createEarlierBoots(deps, 'b-2') };
}

const containersOf = (allocator: FakeBindingClient) => allocator.unbinds.map(({ containerId }) => containerId);

describe('Earlier boots', () => {
  it('Bindings of earlier boots end, and those of the present boot stay', async () => {
    const allocator = new FakeBindingClient();
    allocator.bindings = [
      sandboxBinding('c1'),
      sandboxBinding('c2', 'b-2'),
      sandboxBinding('c3', 'b-0', 'other.default'),
    ];
    await setUp(allocator).boots.endBindings(neverAborted());
    expect(containersOf(allocator)).to.deep.equal(['c1', 'c3']);
    expect(allocator.unbinds.map(({ cause }) => cause)).to.deep.equal(Array(2).fill('UNBIND_CAUSE_NODE_REBOOTED'));
    expect(allocator.lists[0]?.node).to.equal('node-a');
  });

  it('Unbinds of earlier boots are retried until all have succeeded', async () => {
    const error = new IpledgerError('LEDGER_DAMAGED', 'not now');
    const allocator = new FakeBindingClient({ listBindings: failTimes(error, 1), unbind: failTimes(error, 1) });
    allocator.bindings = [sandboxBinding('c1'), sandboxBinding('c2')];
    await setUp(allocator).boots.endBindings(neverAborted());
    expect(containersOf(allocator)).to.deep.equal(['c1', 'c2', 'c1', 'c2']);
  });

  it('The binding of an ADD is kept if an earlier boot had bound the same container ID', async () => {
    const allocator = new FakeBindingClient({
      listBindings: () => boots.exclude({ containerId: 'c1', interface: 'net1' }),
    });
    const { boots } = setUp(allocator);
    allocator.bindings = [sandboxBinding('c1'), sandboxBinding('c2')];
    await boots.endBindings(neverAborted());
    expect(containersOf(allocator)).to.deep.equal(['c2']);
  });

  it('The Unbind of a container waits for an ADD with the same container ID', async () => {
    const allocator = new FakeBindingClient();
    const { boots, runExclusive } = setUp(allocator);
    allocator.bindings = [sandboxBinding('c1')];
    const container = { containerId: 'c1', interface: 'net1' };
    const added = Promise.withResolvers<void>();
    const add = runExclusive('c1 net1', neverAborted(), () => added.promise.then(() => boots.exclude(container)));
    const ended = boots.endBindings(neverAborted());
    setImmediate(added.resolve);
    await Promise.all([add, ended]);
    expect(allocator.unbinds).to.deep.equal([]);
  });

  it('Bindings of earlier boots are not listed again after the agent stops', async () => {
    const life = new AbortController();
    const allocator = new FakeBindingClient({
      listBindings: () => {
        life.abort();
        throw new IpledgerError('UNAVAILABLE', 'no connection');
      },
    });
    await setUp(allocator).boots.endBindings(life.signal);
    expect(allocator.lists).to.have.length(1);
  });
});

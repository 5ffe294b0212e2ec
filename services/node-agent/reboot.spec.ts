import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../lib/errors.ts';
import { bound, failing, FakeAllocator, never } from './fakes.ts';
import { earlierBoots } from './reboot.ts';
import { createTurns } from './turns.ts';

function setUp(allocator: FakeAllocator) {
  const inTurn = createTurns();
  const deps = { allocator, node: 'node-a', inTurn, log: pino({ level: 'silent' }) };
  return { inTurn, boots: earlierBoots(deps, 'b-2') };
}

const containersOf = (allocator: FakeAllocator) => allocator.unbinds.map(({ containerId }) => containerId);

describe('a node that rebooted', () => {
  it('ends what its earlier boots left bound, and nothing of this one', async () => {
    const allocator = new FakeAllocator();
    allocator.bindings = [bound('c1'), bound('c2', 'b-2'), bound('c3', 'b-0', 'other.default')];
    await setUp(allocator).boots.end(never());
    expect(containersOf(allocator)).to.deep.equal(['c1', 'c3']);
    expect(allocator.unbinds.map(({ cause }) => cause)).to.deep.equal(Array(2).fill('UNBIND_CAUSE_NODE_REBOOTED'));
    expect(allocator.lists[0]?.node).to.equal('node-a');
  });

  it('tries again until all are ended', async () => {
    const away = new IpledgerError('LEDGER_DAMAGED', 'not now');
    const allocator = new FakeAllocator({ listBindings: failing(away, 1), unbind: failing(away, 1) });
    allocator.bindings = [bound('c1'), bound('c2')];
    await setUp(allocator).boots.end(never());
    expect(containersOf(allocator)).to.deep.equal(['c1', 'c2', 'c1', 'c2']);
  });

  it('spares a container of the same id that is bound anew meanwhile', async () => {
    const allocator = new FakeAllocator({ listBindings: () => boots.spare({ containerId: 'c1', interface: 'net1' }) });
    const { boots } = setUp(allocator);
    allocator.bindings = [bound('c1'), bound('c2')];
    await boots.end(never());
    expect(containersOf(allocator)).to.deep.equal(['c2']);
  });

  it('waits for the ADD of a container of the same id before it judges', async () => {
    const allocator = new FakeAllocator();
    const { boots, inTurn } = setUp(allocator);
    allocator.bindings = [bound('c1')];
    const container = { containerId: 'c1', interface: 'net1' };
    const added = Promise.withResolvers<void>();
    const add = inTurn('c1 net1', never(), () => added.promise.then(() => boots.spare(container)));
    const ended = boots.end(never());
    setImmediate(added.resolve);
    await Promise.all([add, ended]);
    expect(allocator.unbinds).to.deep.equal([]);
  });

  it('gives up when the agent is stopped', async () => {
    const life = new AbortController();
    const allocator = new FakeAllocator({
      listBindings: () => {
        life.abort();
        throw new IpledgerError('UNAVAILABLE', 'away');
      },
    });
    await setUp(allocator).boots.end(life.signal);
    expect(allocator.lists).to.have.length(1);
  });
});

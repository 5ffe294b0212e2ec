import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../lib/errors.ts';
import type { Attached } from './asked.ts';
import type { BindingFiles } from './binding-files.ts';
import { bound, FakeAllocator, fakeFiles, kept, never, refusal } from './fakes.ts';
import { gc } from './gc.ts';
import { createTurns } from './turns.ts';

const still = (...containers: string[]): Attached[] =>
  containers.map((containerId) => ({ containerId, interface: 'net1' }));

const collected = (
  allocator: FakeAllocator,
  valid: readonly Attached[],
  files: BindingFiles = fakeFiles(),
): Promise<void> =>
  gc(
    { allocator, node: 'node-a', inTurn: createTurns(), files, log: pino({ level: 'silent' }) },
    { verb: 'gc', provider: 'macvlan.default', valid },
    never(),
  );

const containersOf = (allocator: FakeAllocator) => allocator.unbinds.map(({ containerId }) => containerId);

describe('GC', () => {
  it('ends what the runtime does not list, of its own node and provider, and says why', async () => {
    const allocator = new FakeAllocator();
    allocator.bindings = [bound('c1'), bound('c2'), bound('c3'), bound('c4', 'b-1', 'other.default'), bound('c5')];
    await collected(allocator, [...still('c1', 'c9'), { containerId: 'c5', interface: 'net2' }]);
    expect(containersOf(allocator)).to.deep.equal(['c2', 'c3', 'c5']);
    expect(allocator.unbinds[0]).to.deep.equal({
      namespace: 'default',
      pod: 'pod-of-c2',
      provider: 'macvlan.default',
      containerId: 'c2',
      interface: 'net1',
      cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED',
    });
    expect(allocator.lists.map(({ node, pageToken }) => [node, pageToken])).to.deep.equal([
      ['node-a', ''],
      ['node-a', '2'],
      ['node-a', '4'],
    ]);
  });

  it('drops the files of what it ends, and keeps those of other networks', async () => {
    const files = fakeFiles(kept('c1'), kept('c2'), { ...kept('c3'), provider: 'other.default' });
    await collected(new FakeAllocator(), still('c1'), files);
    expect(files.all().map(({ containerId }) => containerId)).to.deep.equal(['c1', 'c3']);
  });

  it('ends everything when nothing is valid', async () => {
    const allocator = new FakeAllocator();
    allocator.bindings = [bound('c1'), bound('c2')];
    await collected(allocator, []);
    expect(containersOf(allocator)).to.deep.equal(['c1', 'c2']);
  });

  it('goes on past what fails, and reports it', async () => {
    const allocator = new FakeAllocator({
      unbind: ({ containerId }) => {
        if (containerId === 'c2') throw new IpledgerError('INVALID_REQUEST', 'c2 is bad');
      },
    });
    allocator.bindings = [bound('c1'), bound('c2'), bound('c3')];
    const error = await refusal(collected(allocator, []));
    expect(containersOf(allocator)).to.deep.equal(['c1', 'c2', 'c3']);
    expect(error).to.include({
      code: 'INVALID_REQUEST',
      message: '1 of 3 stale bindings of provider macvlan.default could not be ended: c2 is bad',
    });
  });

  it('ends nothing when the allocator cannot say what is bound', async () => {
    const allocator = new FakeAllocator({
      listBindings: () => {
        throw new IpledgerError('LEDGER_DAMAGED', 'the log has a gap');
      },
    });
    expect((await refusal(collected(allocator, []))).code).to.equal('LEDGER_DAMAGED');
    expect(allocator.unbinds).to.deep.equal([]);
  });
});

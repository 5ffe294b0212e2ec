import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import type { ContainerInterface } from '../bindings/container-interface.ts';
import type { BindingFiles } from '../bindings/binding-files.ts';
import {
  sandboxBinding,
  FakeBindingClient,
  fakeBindingFiles,
  savedBinding,
  neverAborted,
  rejectionOf,
} from '../testing/fakes.ts';
import { gc } from './gc.ts';
import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';

const attachments = (...containers: string[]): ContainerInterface[] =>
  containers.map((containerId) => ({ containerId, interface: 'net1' }));

const runGc = (
  allocator: FakeBindingClient,
  valid: readonly ContainerInterface[],
  files: BindingFiles = fakeBindingFiles(),
): Promise<void> =>
  gc(
    { allocator, node: 'node-a', runExclusive: createKeyedMutex(), files, log: pino({ level: 'silent' }) },
    { verb: 'gc', provider: 'macvlan.default', valid },
    neverAborted(),
  );

const containersOf = (allocator: FakeBindingClient) => allocator.unbinds.map(({ containerId }) => containerId);

describe('GC', () => {
  it('ends unlisted bindings of its node and provider, with their cause', async () => {
    const allocator = new FakeBindingClient();
    allocator.bindings = [
      sandboxBinding('c1'),
      sandboxBinding('c2'),
      sandboxBinding('c3'),
      sandboxBinding('c4', 'b-1', 'other.default'),
      sandboxBinding('c5'),
    ];
    await runGc(allocator, [...attachments('c1', 'c9'), { containerId: 'c5', interface: 'net2' }]);
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

  it('removes the binding files of ended bindings, and keeps those of other networks', async () => {
    const files = fakeBindingFiles(savedBinding('c1'), savedBinding('c2'), {
      ...savedBinding('c3'),
      provider: 'other.default',
    });
    await runGc(new FakeBindingClient(), attachments('c1'), files);
    expect(files.all().map(({ containerId }) => containerId)).to.deep.equal(['c1', 'c3']);
  });

  it('ends all bindings when the list is empty', async () => {
    const allocator = new FakeBindingClient();
    allocator.bindings = [sandboxBinding('c1'), sandboxBinding('c2')];
    await runGc(allocator, []);
    expect(containersOf(allocator)).to.deep.equal(['c1', 'c2']);
  });

  it('continues after a failure, and returns it', async () => {
    const allocator = new FakeBindingClient({
      unbind: ({ containerId }) => {
        if (containerId === 'c2') throw new IpledgerError('INVALID_REQUEST', 'c2 is bad');
      },
    });
    allocator.bindings = [sandboxBinding('c1'), sandboxBinding('c2'), sandboxBinding('c3')];
    const error = await rejectionOf(runGc(allocator, []));
    expect(containersOf(allocator)).to.deep.equal(['c1', 'c2', 'c3']);
    expect(error).to.include({
      code: 'INVALID_REQUEST',
      message: '1 of 3 stale bindings of provider macvlan.default could not be ended: c2 is bad',
    });
  });

  it('ends nothing when the allocator cannot list the bindings', async () => {
    const allocator = new FakeBindingClient({
      listBindings: () => {
        throw new IpledgerError('LEDGER_DAMAGED', 'the log has a gap');
      },
    });
    expect((await rejectionOf(runGc(allocator, []))).code).to.equal('LEDGER_DAMAGED');
    expect(allocator.unbinds).to.deep.equal([]);
  });
});

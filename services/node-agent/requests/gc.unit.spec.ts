import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import type { ContainerInterface, BindingFiles, SavedBinding } from '../bindings/binding-files.ts';
import { FakeBindingClient, fakeBindingFiles, savedBinding, neverAborted, rejectionOf } from '../testing/fakes.ts';
import { locateNamespace } from '../network-namespace.ts';
import { gc } from './gc.ts';
import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';

const attachments = (...containers: string[]): ContainerInterface[] =>
  containers.map((containerId) => ({ containerId, interface: 'net1' }));

const containersOf = (bound: readonly { readonly containerId?: string | undefined }[]) =>
  bound.map((each) => each.containerId);

describe('GC', () => {
  /** Holds the network namespaces of sandboxes. */
  let folder: string;
  let sweeps: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ipledger-gc-'));
    sweeps = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Makes the binding of a sandbox whose network namespace is deleted. */
  function ofDeleted(containerId: string, changes: Partial<SavedBinding> = {}): SavedBinding {
    const saved = ofRunning(containerId, changes);
    rmSync(join(folder, containerId));
    return saved;
  }
  /** Makes the binding of a sandbox whose network namespace exists. */
  function ofRunning(containerId: string, changes: Partial<SavedBinding> = {}): SavedBinding {
    writeFileSync(join(folder, containerId), '');
    return savedBinding(containerId, { ...locateNamespace(join(folder, containerId)), ...changes });
  }

  const runGc = (
    allocator: FakeBindingClient,
    files: BindingFiles,
    valid: readonly ContainerInterface[] = [],
    provider = 'macvlan.default',
  ): Promise<void> => {
    const sweepPorts = () => Promise.resolve(void (sweeps += 1));
    const log = pino({ level: 'silent' });
    const deps = { allocator, node: 'node-a', runExclusive: createKeyedMutex(), files, sweepPorts, log };
    return gc(deps, { verb: 'gc', provider, valid }, neverAborted());
  };

  it('GC ends unlisted bindings of deleted sandboxes of its provider, with the evidence, and removes their files', async () => {
    const allocator = new FakeBindingClient();
    const files = fakeBindingFiles(
      ...['c1', 'c2', 'c5'].map((id) => ofDeleted(id)),
      ofDeleted('c4', { provider: 'other.default' }),
    );
    await runGc(allocator, files, [...attachments('c1', 'c9'), { containerId: 'c5', interface: 'net2' }]);
    expect(allocator.unbinds).to.deep.equal(
      ['c2', 'c5'].map((containerId) => ({
        namespace: 'default',
        pod: 'p',
        provider: 'macvlan.default',
        containerId,
        interface: 'net1',
        cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED',
        evidence: `its network namespace ${join(folder, containerId)} is deleted`,
      })),
    );
    expect(containersOf(files.all())).to.deep.equal(['c1', 'c4']);
    expect(sweeps).to.equal(0);
  });

  it('GC keeps the binding and the file of an existing sandbox, with any provider and list in a network configuration', async () => {
    for (const provider of ['macvlan.default', 'ovn', 'ovn4nfv.kube-system.ovn']) {
      const allocator = new FakeBindingClient();
      const files = fakeBindingFiles(ofRunning('victim', { provider }));
      await runGc(allocator, files, [], provider);
      expect(allocator.unbinds).to.deep.equal([]);
      expect(containersOf(files.all())).to.deep.equal(['victim']);
    }
  });

  it('GC keeps a binding whose network namespace is unknown, or in a folder that the agent does not see', async () => {
    const allocator = new FakeBindingClient();
    const files = fakeBindingFiles(
      savedBinding('older-agent', { netns: '' }),
      savedBinding('unmounted', { netns: join(folder, 'absent', 'ns') }),
    );
    await runGc(allocator, files);
    expect(allocator.unbinds).to.deep.equal([]);
    expect(files.all()).to.have.length(2);
  });

  it('GC keeps a binding whose sandbox was created again while GC waited for its ADD', async () => {
    const files = fakeBindingFiles(ofDeleted('c1'));
    const runExclusive = createKeyedMutex();
    const allocator = new FakeBindingClient();
    const deps = { allocator, node: 'node-a', runExclusive, files, log: pino({ level: 'silent' }) };
    let collected: Promise<void> | undefined;
    await runExclusive('c1 net1', neverAborted(), async () => {
      collected = gc(deps, { verb: 'gc', provider: 'macvlan.default', valid: [] }, neverAborted());
      await files.save(ofRunning('c1'));
    });
    await collected;
    expect(allocator.unbinds).to.deep.equal([]);
    expect(files.all()).to.have.length(1);
  });

  it('GC sweeps the ports of an OVN provider', async () => {
    await runGc(new FakeBindingClient(), fakeBindingFiles(), [], 'lan.default.ovn');
    expect(sweeps).to.equal(1);
  });

  it('GC continues after a failure, keeps the file for the next GC, and returns the error', async () => {
    const allocator = new FakeBindingClient({
      unbind: ({ containerId }) => {
        if (containerId === 'c2') throw new IpledgerError('INVALID_REQUEST', 'c2 is bad');
      },
    });
    const files = fakeBindingFiles(...['c1', 'c2', 'c3'].map((id) => ofDeleted(id)));
    const error = await rejectionOf(runGc(allocator, files));
    expect(containersOf(allocator.unbinds)).to.deep.equal(['c1', 'c2', 'c3']);
    expect(containersOf(files.all())).to.deep.equal(['c2']);
    expect(error).to.include({
      code: 'INVALID_REQUEST',
      message: '1 of 3 stale bindings of provider macvlan.default could not be ended: c2 is bad',
    });
  });
});

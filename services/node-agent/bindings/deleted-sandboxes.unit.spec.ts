import { expect } from 'chai';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';
import { locateNamespace } from '../network-namespace.ts';
import { add } from '../requests/add.ts';
import {
  FakeBindingClient,
  fakeBindingFiles,
  lingeringBindings,
  lostReply,
  neverAborted,
  rejectionOf,
  request,
  savedBinding,
  unansweredProbe,
} from '../testing/fakes.ts';
import type { SavedBinding } from './binding-files.ts';
import { DeletedSandboxes } from './deleted-sandboxes.ts';

describe('Bindings of sandboxes that were deleted without a DEL', () => {
  let parent: string;
  /** Holds the network namespaces of sandboxes. */
  let folder: string;
  let allocator: FakeBindingClient;
  let logged: { msg: string; containerId?: string }[];
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'ipledger-sandboxes-'));
    folder = join(parent, 'netns');
    mkdirSync(folder);
    allocator = new FakeBindingClient();
    logged = [];
  });
  afterEach(() => rmSync(parent, { recursive: true, force: true }));

  const runExclusive = createKeyedMutex();
  const write = (line: string): void => void logged.push(JSON.parse(line) as { msg: string });
  const createSandboxes = (files = fakeBindingFiles()) =>
    new DeletedSandboxes({ allocator, files, runExclusive, log: pino({ level: 'info' }, { write }) });
  /** Checks twice, as the agent does within a minute. */
  async function lookTwice(sandboxes: DeletedSandboxes): Promise<void> {
    for (let look = 0; look < 2; look++) await sandboxes.look(neverAborted());
  }
  const create = (containerId: string): void => writeFileSync(join(folder, containerId), '');
  const remove = (containerId: string): void => rmSync(join(folder, containerId));
  /** Makes the binding of a running sandbox. */
  function ofRunning(containerId: string, changes: Partial<SavedBinding> = {}): SavedBinding {
    create(containerId);
    return savedBinding(containerId, { ...locateNamespace(join(folder, containerId)), ...changes });
  }
  const ended = (): (string | undefined)[] => allocator.unbinds.map(({ containerId }) => containerId);

  it('CA-4502 bindings of deleted sandboxes end at the second check, also after a restart of the agent, and other bindings stay', async () => {
    const files = fakeBindingFiles(ofRunning('c1'), ofRunning('c2'), ofRunning('c1', { interface: 'net2' }));
    remove('c1');
    const first = createSandboxes(files);
    await first.look(neverAborted());
    expect(ended()).to.deep.equal([]);
    expect(first.counts).to.deep.equal({ exists: 1, deleted: 2, unknown: 0 });
    await lookTwice(createSandboxes(files));
    expect(allocator.unbinds.map(({ containerId, interface: name }) => `${containerId} ${name}`)).to.deep.equal([
      'c1 net1',
      'c1 net2',
    ]);
    expect(allocator.unbinds[0]).to.include({
      cause: 'UNBIND_CAUSE_GARBAGE_COLLECTED',
      evidence: `its network namespace ${join(folder, 'c1')} is deleted`,
    });
    expect(files.all().map(({ containerId }) => containerId)).to.deep.equal(['c2']);
    expect(logged.map(({ msg }) => msg)).to.include(
      'ended the binding of a deleted sandbox: its CNI DEL never arrived',
    );
  });

  /** Ways in which a path disappears although its sandbox may run. */
  const hidden: Readonly<Record<string, () => void>> = {
    'its folder is not mounted': () => rmSync(folder, { recursive: true }),
    'its folder is replaced, as by another mount': () => {
      renameSync(folder, join(parent, 'before'));
      mkdirSync(folder);
    },
    'its folder is a file': () => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, '');
    },
  };
  for (const [what, hide] of Object.entries(hidden))
    it(`Bindings stay while ${what}, and the agent counts them and logs once`, async () => {
      const sandboxes = createSandboxes(fakeBindingFiles(ofRunning('c1'), ofRunning('c2')));
      hide();
      await lookTwice(sandboxes);
      expect(ended()).to.deep.equal([]);
      expect(sandboxes.counts).to.deep.equal({ exists: 0, deleted: 0, unknown: 2 });
      expect(logged).to.have.length(1);
      expect(logged[0]?.msg).to.contain('does not know whether their sandboxes exist');
    });

  it('Bindings stay if the agent never saw the network namespace, or its path belongs to a process', async () => {
    const paths = ['', join(folder, 'never'), '/proc/4194304/ns/net', '/proc/self/ns/net', 'relative'];
    const files = fakeBindingFiles(
      ...paths.map((netns, index) => savedBinding(`c${index}`, { ...locateNamespace(netns) })),
    );
    await lookTwice(createSandboxes(files));
    expect(ended()).to.deep.equal([]);
    expect(files.all()).to.have.length(paths.length);
  });

  it('Bindings of an earlier agent version end, too, if their sandbox still ran at the upgrade', async () => {
    create('c1');
    const sandboxes = createSandboxes(fakeBindingFiles(savedBinding('c1', { netns: join(folder, 'c1') })));
    await lookTwice(sandboxes);
    remove('c1');
    await lookTwice(sandboxes);
    expect(ended()).to.deep.equal(['c1']);
  });

  it('Bindings stay if the sandbox was created again between two checks, or while the second check waited for the ADD', async () => {
    const files = fakeBindingFiles(ofRunning('c1'), ofRunning('c2'));
    const sandboxes = createSandboxes(files);
    remove('c1');
    remove('c2');
    await sandboxes.look(neverAborted());
    create('c1');
    let look: Promise<void> | undefined;
    await runExclusive('c2 net1', neverAborted(), async () => {
      look = sandboxes.look(neverAborted());
      await files.save(ofRunning('c2'));
    });
    await look;
    expect(ended()).to.deep.equal([]);
  });

  it('Bindings that linger for the next sandbox of a Pod are left to their own rules', async () => {
    const files = fakeBindingFiles(ofRunning('c1', { boundAs: 'c0' }), ofRunning('c2', { isDeleted: true }));
    remove('c1');
    remove('c2');
    await lookTwice(createSandboxes(files));
    expect(ended()).to.deep.equal([]);
  });

  it('Bindings whose Unbind fails end at a later check', async () => {
    const files = fakeBindingFiles(ofRunning('c1'));
    const sandboxes = createSandboxes(files);
    remove('c1');
    allocator.behaviour.unbind = () => {
      throw new IpledgerError('INVALID_REQUEST', 'not now');
    };
    await lookTwice(sandboxes);
    expect(files.all()).to.have.length(1);
    allocator.behaviour.unbind = () => undefined;
    await sandboxes.look(neverAborted());
    expect(files.all()).to.deep.equal([]);
  });

  describe('of an ADD', () => {
    const addDeps = (files = fakeBindingFiles()) => ({
      allocator,
      files,
      lingering: lingeringBindings(allocator, files),
      lookUpPod: () => Promise.reject(new Error('a request with a uid needs no lookup')),
      readPodWarning: () => Promise.resolve(''),
      probe: unansweredProbe,
      sandbox: { prepare: () => Promise.resolve() },
      node: 'node-a',
      bootId: 'b-1',
      log: pino({ level: 'silent' }),
    });

    it('The binding of an ADD ends if the agent was killed before the ADD ended', async () => {
      create('c1');
      const killed = fakeBindingFiles();
      const deps = addDeps();
      allocator.behaviour.attach = async () => {
        for (const saved of deps.files.all()) await killed.save(saved);
      };
      await add(deps, request({ net_ns: join(folder, 'c1') }), neverAborted());
      expect(killed.all().map(({ isPending }) => isPending)).to.deep.equal([true]);
      remove('c1');
      await lookTwice(createSandboxes(killed));
      expect(ended()).to.deep.equal(['c1']);
    });

    it('The binding of a failed ADD ends without a DEL if the allocator was unavailable', async () => {
      create('c1');
      const deps = addDeps();
      deps.sandbox.prepare = () => Promise.reject(new Error('no link'));
      allocator.behaviour.unbind = () => {
        throw lostReply();
      };
      await add(deps, request({ net_ns: join(folder, 'c1') }), neverAborted()).catch(() => undefined);
      const before = allocator.unbinds.length;
      allocator.behaviour.unbind = () => undefined;
      await deps.lingering.settle(neverAborted());
      expect(ended().slice(before)).to.deep.equal(['c1']);
      expect(deps.files.all()).to.deep.equal([]);
    });

    it('An ADD that is refused leaves no binding file', async () => {
      const deps = addDeps();
      allocator.behaviour.attach = () => {
        throw new IpledgerError('INVALID_REQUEST', 'no');
      };
      await rejectionOf(add(deps, request(), neverAborted()));
      expect(deps.files.all()).to.deep.equal([]);
    });
  });
});

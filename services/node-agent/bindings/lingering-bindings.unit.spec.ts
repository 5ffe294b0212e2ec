import { expect } from 'chai';
import fc from 'fast-check';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { add, type AddDeps } from '../requests/add.ts';
import { del } from '../requests/del.ts';
import {
  allocation,
  FakeBindingClient,
  fakeBindingFiles,
  lingeringBindings,
  neverAborted,
  request,
  unansweredProbe,
} from '../testing/fakes.ts';

describe('Bindings of failed sandboxes', () => {
  /** The containers that the ledger has bound. */
  let bound: Set<string>;
  let events: number;
  let allocator: FakeBindingClient;
  let seconds: number;
  let deps: AddDeps;
  /** Whether the next ADD fails in the sandbox. */
  let isSandboxBroken: boolean;
  let isNamespaceDeleted: boolean;

  const bindingOf = (containerId: string) => ({
    containerId,
    interface: 'net1',
    node: 'node-a',
    bootId: 'b-1',
    at: '',
  });
  const record = (changed: boolean): void => void (events += changed ? 1 : 0);
  function bind({ containerId = '' }: { readonly containerId?: string | undefined }): void {
    record(!bound.has(containerId));
    bound.add(containerId);
    show();
  }
  const show = (): void => void (allocator.allocation = { ...allocation, bindings: [...bound].map(bindingOf) });

  beforeEach(() => {
    bound = new Set();
    events = 0;
    seconds = 0;
    isSandboxBroken = false;
    isNamespaceDeleted = false;
    allocator = new FakeBindingClient({
      attach: () => bind(allocator.attaches.at(-1) ?? {}),
      bind: () => bind(allocator.binds.at(-1) ?? {}),
      unbind: ({ containerId = '' }) => {
        record(bound.delete(containerId));
        show();
      },
    });
    const files = fakeBindingFiles();
    deps = {
      allocator,
      files,
      lingering: startAgain(files),
      lookUpPod: () => Promise.reject(new Error('a request with a uid needs no lookup')),
      readPodWarning: () => Promise.resolve(''),
      probe: unansweredProbe,
      sandbox: { prepare: () => (isSandboxBroken ? Promise.reject(new Error('no link')) : Promise.resolve()) },
      node: 'node-a',
      bootId: 'b-1',
      log: pino({ level: 'silent' }),
    };
  });

  const startAgain = (files: AddDeps['files']) =>
    lingeringBindings(
      allocator,
      files,
      () => seconds * 1_000,
      () => (isNamespaceDeleted ? 'deleted' : 'exists'),
    );
  const addOne = (container: string, changes: object = {}) =>
    add(deps, request({ container_id: container, ...changes }), neverAborted());
  const delOne = (container: string) => del(deps, request({ container_id: container }), neverAborted());
  const settle = () => deps.lingering.settle(neverAborted());

  it('Bindings of failed sandboxes write a bounded number of events while ADD and DEL repeat with new containers, and the address stays bound', async () => {
    for (let round = 0; round < 500; round++) {
      await addOne(`c${round}`);
      expect(bound.size, `round ${round}`).to.equal(1);
      await delOne(`c${round}`);
      await delOne(`c${round}`);
      seconds += 15;
      await settle();
    }
    expect(events).to.be.at.most(8);
    seconds += 120;
    await settle();
    expect([...bound]).to.deep.equal([]);
    expect(deps.files.all()).to.deep.equal([]);
  });

  it('Bindings of failed sandboxes write a bounded number of events while ADD fails in the sandbox', async () => {
    isSandboxBroken = true;
    for (let round = 0; round < 100; round++) {
      await addOne(`c${round}`).catch(() => undefined);
      await delOne(`c${round}`);
      seconds += 15;
      await settle();
    }
    expect(events).to.be.at.most(8);
  });

  it('The file of a sandbox that takes over a binding has the present epoch of the ledger', async () => {
    isSandboxBroken = true;
    for (let round = 0; round < 5; round++) {
      await addOne(`c${round}`).catch(() => undefined);
      await delOne(`c${round}`);
    }
    isSandboxBroken = false;
    await addOne('c5');
    const saved = deps.files.get({ containerId: 'c5', interface: 'net1' });
    expect(saved?.boundAs).to.equal([...bound].join());
    expect(saved).to.include({ epoch: allocator.epoch, isPending: false });
  });

  it('The binding of a sandbox that survives replaces the one that it took over', async () => {
    for (let round = 0; round < 6; round++) {
      await addOne(`c${round}`);
      await delOne(`c${round}`);
    }
    await addOne('living');
    expect(bound.has('living')).to.equal(false);
    seconds += 61;
    await settle();
    expect([...bound]).to.deep.equal(['living']);
    expect(deps.files.all().map(({ containerId, boundAs }) => [containerId, boundAs])).to.deep.equal([['living', '']]);
    await delOne('c5');
    expect([...bound]).to.deep.equal(['living']);
    await delOne('living');
    expect([...bound]).to.deep.equal([]);
  });

  it('The binding of a failed sandbox is not taken over by another Pod, or after the ledger has ended it', async () => {
    for (let round = 0; round < 5; round++) {
      await addOne(`c${round}`);
      await delOne(`c${round}`);
    }
    expect(bound.size).to.equal(1);
    await addOne('other', { pod_name: 'q', pod_uid: 'u-2' });
    expect(bound.has('other')).to.equal(true);
    bound.clear();
    show();
    await addOne('c9');
    expect([...bound]).to.deep.equal(['c9']);
  });

  it('The binding of a failed sandbox ends when no sandbox follows, and at the next start of the agent', async () => {
    for (let round = 0; round < 5; round++) {
      await addOne(`c${round}`);
      await delOne(`c${round}`);
    }
    await settle();
    expect(bound.size).to.equal(1);
    deps = { ...deps, lingering: startAgain(deps.files) };
    await settle();
    expect([[...bound], deps.files.all()]).to.deep.equal([[], []]);
  });

  it('A binding that was taken over ends without a DEL, when its sandbox is deleted and the Pod has ended', async () => {
    for (let round = 0; round < 5; round++) {
      await addOne(`c${round}`);
      await delOne(`c${round}`);
    }
    await addOne('taker');
    allocator.behaviour.bind = () => {
      throw new IpledgerError('NOT_ALLOCATED', 'the Pod has ended');
    };
    seconds += 61;
    await settle();
    expect(bound.size, 'while the sandbox exists').to.equal(1);
    isNamespaceDeleted = true;
    await settle();
    expect([[...bound], deps.files.all()]).to.deep.equal([[], []]);
  });

  it('A binding that was taken over ends when a repeated ADD binds the container itself', async () => {
    for (let round = 0; round < 5; round++) {
      await addOne(`c${round}`);
      await delOne(`c${round}`);
    }
    await addOne('taker');
    allocator.behaviour.wait = () => {
      throw new IpledgerError('UNAVAILABLE', 'not now');
    };
    await addOne('taker');
    expect(bound.has('taker')).to.equal(true);
    await settle();
    expect([...bound]).to.deep.equal(['taker']);
    seconds += 61;
    await delOne('taker');
    expect([[...bound], deps.files.all()]).to.deep.equal([[], []]);
  });

  it('A running container is bound, by its own binding or the one that its file names, after any requests and restarts', async () => {
    const anyStep = fc.record({
      kind: fc.constantFrom(
        ...'add add add broken-add repeated-add del del del failing-del'.split(' '),
        ...'restart settle failing-settle wait-20 wait-100'.split(' '),
      ),
      which: fc.nat({ max: 3 }),
    });
    const healthy = { ...allocator.behaviour };
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 60, size: 'max' }), async (steps) => {
        const files = fakeBindingFiles();
        deps = { ...deps, files, lingering: startAgain(files) };
        bound.clear();
        show();
        /** All containers, newest first. A runtime gives each ID only once. */
        const known: string[] = [];
        const running = new Set<string>();
        const failures = Array.from({ length: 4 }, () => ['add', 'del']).flat();
        for (const { kind, which } of [...failures.map((each) => ({ kind: each, which: 0 })), ...steps]) {
          const fail = (): never => {
            throw new IpledgerError('INVALID_REQUEST', 'not now');
          };
          isSandboxBroken = kind === 'broken-add';
          if (kind.startsWith('failing')) allocator.behaviour.unbind = fail;
          if (kind === 'add' || isSandboxBroken) known.unshift(`c${known.length}`);
          const id = known[which];
          if (kind === 'add') await addOne(known[0] ?? '').then(() => running.add(known[0] ?? ''));
          else if (isSandboxBroken) await addOne(known[0] ?? '').catch(() => undefined);
          else if (kind === 'repeated-add' && id !== undefined && running.has(id)) await addOne(id);
          else if (kind.endsWith('del') && id !== undefined) {
            running.delete(id);
            await delOne(id).catch(() => undefined);
          } else if (kind === 'restart') deps = { ...deps, lingering: startAgain(deps.files) };
          else if (kind.endsWith('settle')) await settle();
          else if (kind.startsWith('wait')) seconds += Number(kind.slice('wait-'.length));
          Object.assign(allocator.behaviour, healthy);
          for (const each of running) {
            const file = deps.files.get({ containerId: each, interface: 'net1' });
            expect(bound.has(file?.boundAs || each), `${each} after ${kind}`).to.equal(true);
          }
        }
        for (const each of known) await delOne(each);
        seconds += 200;
        await settle();
        expect([...bound]).to.deep.equal([]);
      }),
      { numRuns: 300 },
    );
  });
});

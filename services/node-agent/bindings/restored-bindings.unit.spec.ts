import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import type { BindingFiles } from './binding-files.ts';
import {
  allocation,
  sandboxBinding,
  FakeBindingClient,
  fakeBindingFiles,
  rejectionOf,
  savedBinding,
  neverAborted,
} from '../testing/fakes.ts';
import { LedgerEpoch } from './ledger-epoch.ts';
import { createRestorePass, restoreBindingsForever } from './restored-bindings.ts';
import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';

const other = { ...allocation, addresses: [{ address: '172.17.0.99', cidr: '172.17.0.0/16', gateway: '172.17.0.1' }] };

describe('Binding files after the ledger is restored', () => {
  let allocator: FakeBindingClient;
  let logged: string[];
  const pendingDels = new Set<string>();

  beforeEach(() => {
    allocator = new FakeBindingClient();
    allocator.epoch = 2;
    logged = [];
    now = 0;
    epoch = new LedgerEpoch(
      () => now,
      () => 0.5,
    );
    pendingDels.clear();
  });

  /** The present time of the epoch's clock. */
  let now: number;
  let epoch: LedgerEpoch;

  /** Makes the pass of an agent that has received a reply with the present epoch. */
  function restorePass(files: BindingFiles): (signal: AbortSignal) => Promise<number> {
    epoch.record({ epoch: allocator.epoch, seq: 7, hash: '' });
    const write = (line: string): void => void logged.push((JSON.parse(line) as { msg: string }).msg);
    return createRestorePass({
      allocator,
      node: 'node-a',
      bootId: 'b-1',
      epoch,
      runExclusive: createKeyedMutex(),
      files,
      hasPendingDel: ({ containerId }) => pendingDels.has(containerId),
      now: () => now,
      log: pino({ level: 'warn' }, { write }),
    });
  }

  it('Binding files restore bindings with the same container, Pod uid, node and boot, without an ADD', async () => {
    const files = fakeBindingFiles(savedBinding('c1'), savedBinding('c2'));
    const pass = restorePass(files);
    expect(await pass(neverAborted())).to.equal(2);
    expect(allocator.binds[0]).to.deep.equal({
      namespace: 'default',
      pod: 'p',
      podUid: 'u-1',
      provider: 'macvlan.default',
      containerId: 'c1',
      interface: 'net1',
      node: 'node-a',
      bootId: 'b-1',
    });
    expect(files.all().map(({ epoch }) => epoch)).to.deep.equal([2, 2]);
    expect(await pass(neverAborted())).to.equal(0);
    expect(allocator.binds).to.have.length(2);
  });

  it('Binding files keep a binding that the ledger has', async () => {
    allocator.bindings = [sandboxBinding('c1')];
    const files = fakeBindingFiles(savedBinding('c1'));
    expect(await restorePass(files)(neverAborted())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
    expect(files.all()[0]).to.include({ epoch: 2 });
  });

  it('A restored ledger keeps a binding that another container took over; without it, that container gets its own', async () => {
    const files = fakeBindingFiles(savedBinding('c2', { boundAs: 'c1' }), savedBinding('c4', { boundAs: 'c3' }));
    allocator.bindings = [sandboxBinding('c1')];
    expect(await restorePass(files)(neverAborted())).to.equal(1);
    expect(allocator.binds.map(({ containerId }) => containerId)).to.deep.equal(['c4']);
    expect(files.all().map(({ epoch, boundAs }) => [epoch, boundAs])).to.deep.equal([
      [2, 'c1'],
      [2, ''],
    ]);
  });

  it('Binding files restore nothing while the epoch is the same', async () => {
    allocator.epoch = 1;
    expect(await restorePass(fakeBindingFiles(savedBinding('c1')))(neverAborted())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
    expect(allocator.lists).to.deep.equal([]);
  });

  it('An agent at rest sends no request, and one within a minute after its connection to the allocator has ended', async () => {
    allocator.epoch = 1;
    const pass = restorePass(fakeBindingFiles(savedBinding('c1')));
    now += 30 * 86_400_000;
    expect(await pass(neverAborted())).to.equal(0);
    epoch.onDisconnected();
    now += 29_000;
    epoch.onDisconnected();
    expect(await pass(neverAborted())).to.equal(0);
    expect(allocator.lists, 'at a random time').to.deep.equal([]);
    allocator.epoch = 2;
    now += 1_000;
    expect(await pass(neverAborted())).to.equal(1);
    const requests = allocator.lists.length;
    now += 60_000;
    expect(await pass(neverAborted())).to.equal(0);
    expect(allocator.lists).to.have.length(requests);
  });

  it('An agent sends no request after a disconnection if another reply has stated the epoch since', async () => {
    allocator.epoch = 1;
    const pass = restorePass(fakeBindingFiles(savedBinding('c1')));
    epoch.onDisconnected();
    epoch.record({ epoch: 1, seq: 8, hash: '' });
    now += 60_000;
    expect(await pass(neverAborted())).to.equal(0);
    expect(allocator.lists).to.deep.equal([]);
  });

  it('Binding files are restored only after a reply to another call, and cause no request before it', async () => {
    const pass = restorePass(fakeBindingFiles(savedBinding('c1')));
    epoch = new LedgerEpoch(() => now);
    const waiting = createRestorePass({
      allocator,
      node: 'node-a',
      bootId: 'b-1',
      epoch,
      runExclusive: createKeyedMutex(),
      files: fakeBindingFiles(savedBinding('c1')),
      hasPendingDel: () => false,
      log: pino({ level: 'silent' }),
    });
    expect(await waiting(neverAborted())).to.equal(0);
    expect(allocator.lists).to.deep.equal([]);
    expect(await pass(neverAborted())).to.equal(1);
  });

  it('Binding files are restored as soon as a reply states another epoch', async () => {
    const files = fakeBindingFiles(savedBinding('c1'));
    const stopping = new AbortController();
    const restored = Promise.withResolvers<void>();
    const { save } = files;
    const saving = { ...files, save: (saved: Parameters<typeof save>[0]) => save(saved).then(restored.resolve) };
    const running = restoreBindingsForever(
      {
        allocator,
        node: 'node-a',
        bootId: 'b-1',
        epoch,
        runExclusive: createKeyedMutex(),
        files: saving,
        hasPendingDel: () => false,
        log: pino({ level: 'silent' }),
      },
      stopping.signal,
    );
    await new Promise(setImmediate);
    epoch.record({ epoch: 2, seq: 9, hash: '' });
    await restored.promise;
    stopping.abort();
    await running;
    expect(files.all()[0]).to.include({ epoch: 2 });
  });

  it('Binding files of a Pod with another address are logged once and not restored', async () => {
    allocator.allocation = other;
    const files = fakeBindingFiles(savedBinding('c1'));
    const pass = restorePass(files);
    expect(await pass(neverAborted())).to.equal(0);
    expect(await pass(neverAborted())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
    expect(logged).to.deep.equal([
      'the binding of 172.17.0.11 cannot be restored in the ledger: the Pod has 172.17.0.99 in the ledger now. While the container runs, quarantine the address: ipledger quarantine',
    ]);
    allocator.allocation = allocation; // an operator restored it
    expect(await pass(neverAborted())).to.equal(1);
  });

  it('A restored binding ends if its address changed between Wait and Bind', async () => {
    allocator.bindResult = other;
    expect(await restorePass(fakeBindingFiles(savedBinding('c1')))(neverAborted())).to.equal(0);
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['c1']);
    expect(logged).to.have.length(1);
  });

  it('A binding file that the ledger rejects is kept and retried', async () => {
    let isRejecting = true;
    allocator = new FakeBindingClient({
      wait: () => {
        if (isRejecting) throw new IpledgerError('NOT_ALLOCATED', 'Pod default/p has no allocation');
      },
    });
    allocator.epoch = 2;
    const pass = restorePass(fakeBindingFiles(savedBinding('c1')));
    expect(await pass(neverAborted())).to.equal(0);
    expect(logged[0]).to.contain('Pod default/p has no allocation');
    isRejecting = false; // ipledger recover imported it
    expect(await pass(neverAborted())).to.equal(1);
  });

  it('A container whose DEL is pending, or finished in the meantime, is not restored', async () => {
    pendingDels.add('c1');
    const files = fakeBindingFiles(savedBinding('c1'), savedBinding('c2'));
    allocator = new FakeBindingClient({ listBindings: () => files.remove(savedBinding('c2')) });
    allocator.epoch = 2;
    expect(await restorePass(files)(neverAborted())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
  });

  it('An agent without binding files compares itself with the ledger once in an epoch', async () => {
    const files = fakeBindingFiles();
    const pass = restorePass(files);
    for (let passes = 0; passes < 3; passes++) expect(await pass(neverAborted())).to.equal(0);
    expect(allocator.lists).to.have.length(1);
    expect(files.record.epoch).to.equal(2);
  });

  it('A binding that a DEL ended after the backup ends again, and so does one of an earlier boot', async () => {
    allocator.bindings = [sandboxBinding('c1'), sandboxBinding('c2'), sandboxBinding('c3', 'b-0')];
    const files = fakeBindingFiles(savedBinding('c1'));
    await restorePass(files)(neverAborted());
    expect(allocator.unbinds.map(({ containerId, cause }) => [containerId, cause])).to.deep.equal([
      ['c2', 'UNBIND_CAUSE_GARBAGE_COLLECTED'],
      ['c3', 'UNBIND_CAUSE_NODE_REBOOTED'],
    ]);
    expect(allocator.unbinds[0]?.evidence).to.contain('before the ledger was restored');
  });

  it('No binding ends after a restore while a file of its container, a pending DEL, or another container shows its use', async () => {
    allocator.bindings = ['c1', 'c2', 'c3', 'c4'].map((each) => sandboxBinding(each));
    pendingDels.add('c2');
    const files = fakeBindingFiles(savedBinding('c1'), savedBinding('c5', { boundAs: 'c3' }));
    await restorePass({ ...files, isOnDisk: ({ containerId }) => containerId === 'c4' })(neverAborted());
    expect(allocator.unbinds).to.deep.equal([]);
  });

  it('Within an epoch an agent ends no binding that has no file, also when it compares its files', async () => {
    allocator.bindings = [sandboxBinding('c1'), sandboxBinding('c2')];
    const files = fakeBindingFiles(savedBinding('c1'));
    files.record.epoch = 2;
    await restorePass(files)(neverAborted());
    expect(allocator.lists.length).to.be.greaterThan(0);
    expect(allocator.unbinds).to.deep.equal([]);
  });

  it('An agent whose folder may lack a file ends no binding, and compares it again after ten minutes', async () => {
    allocator.bindings = [sandboxBinding('c1')];
    const files = fakeBindingFiles();
    files.record.epoch = undefined;
    const pass = restorePass(files);
    await pass(neverAborted());
    now += 599_000;
    await pass(neverAborted());
    expect([allocator.lists.length, files.record.epoch]).to.deep.equal([1, undefined]);
    allocator.bindings = [];
    now += 1_000;
    await pass(neverAborted());
    expect([allocator.unbinds.length, files.record.epoch]).to.deep.equal([0, 2]);
  });

  it('Each pass repeats the removal of a record that could not be removed, also while the allocator does not answer', async () => {
    const unanswered = (): never => {
      throw new IpledgerError('LEDGER_FROZEN', 'frozen');
    };
    allocator = new FakeBindingClient({ listBindings: unanswered });
    allocator.epoch = 2;
    const files = fakeBindingFiles();
    const pass = restorePass(files);
    for (const passes of [1, 2]) {
      await rejectionOf(pass(neverAborted()));
      expect(files.record.repeatedDiscards).to.equal(passes);
    }
  });

  for (const epoch of [undefined, 1])
    it(`A folder that loses a file while the agent lists its bindings does not count as complete ${epoch ? 'any more' : 'yet'}`, async () => {
      const files = fakeBindingFiles();
      files.record.epoch = epoch;
      allocator = new FakeBindingClient({ listBindings: () => void files.record.discards++ });
      allocator.epoch = 2;
      allocator.bindings = epoch ? [sandboxBinding('c1')] : [];
      await restorePass(files)(neverAborted());
      expect([allocator.unbinds.length, files.record.epoch]).to.deep.equal([0, epoch]);
    });

  it('The end of a returned binding is tried again when the allocator did not answer', async () => {
    allocator.bindings = [sandboxBinding('c1')];
    let isFailing = true;
    const { bindings } = allocator;
    allocator = new FakeBindingClient({
      unbind: () => {
        if (isFailing) throw new IpledgerError('LEDGER_FROZEN', 'frozen');
      },
    });
    Object.assign(allocator, { epoch: 2, bindings });
    const files = fakeBindingFiles();
    const pass = restorePass(files);
    expect((await rejectionOf(pass(neverAborted()))).code).to.equal('LEDGER_FROZEN');
    expect(files.record.epoch).to.equal(1);
    isFailing = false;
    await pass(neverAborted());
    expect(files.record.epoch).to.equal(2);
  });
});

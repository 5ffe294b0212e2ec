import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import type { BindingFiles } from './binding-files.ts';
import {
  allocation,
  sandboxBinding,
  FakeBindingClient,
  fakeBindingFiles,
  savedBinding,
  neverAborted,
} from '../testing/fakes.ts';
import { createRestorePass } from './restored-bindings.ts';
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
    pendingDels.clear();
  });

  function restorePass(files: BindingFiles): (signal: AbortSignal) => Promise<number> {
    const write = (line: string): void => void logged.push((JSON.parse(line) as { msg: string }).msg);
    return createRestorePass({
      allocator,
      node: 'node-a',
      bootId: 'b-1',
      runExclusive: createKeyedMutex(),
      files,
      hasPendingDel: ({ containerId }) => pendingDels.has(containerId),
      log: pino({ level: 'warn' }, { write }),
    });
  }

  it('restore bindings with the same container, Pod uid, node and boot, without an ADD', async () => {
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

  it('keep a binding that the ledger has', async () => {
    allocator.bindings = [sandboxBinding('c1')];
    const files = fakeBindingFiles(savedBinding('c1'));
    expect(await restorePass(files)(neverAborted())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
    expect(files.all()[0]).to.include({ epoch: 2 });
  });

  it('restore no binding when the epoch is the same', async () => {
    allocator.epoch = 1;
    expect(await restorePass(fakeBindingFiles(savedBinding('c1')))(neverAborted())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
    expect(allocator.lists).to.have.length(1);
  });

  it('log once that a Pod has another address, and do not bind it', async () => {
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

  it('end a restored binding whose address changed between Wait and Bind', async () => {
    allocator.bindResult = other;
    expect(await restorePass(fakeBindingFiles(savedBinding('c1')))(neverAborted())).to.equal(0);
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['c1']);
    expect(logged).to.have.length(1);
  });

  it('keep a binding that the ledger rejects, and retry it', async () => {
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

  it('do not restore a container whose DEL is pending, or was done since', async () => {
    pendingDels.add('c1');
    const files = fakeBindingFiles(savedBinding('c1'), savedBinding('c2'));
    allocator = new FakeBindingClient({ listBindings: () => files.remove(savedBinding('c2')) });
    allocator.epoch = 2;
    expect(await restorePass(files)(neverAborted())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
  });

  it('send no request when there are none', async () => {
    expect(await restorePass(fakeBindingFiles())(neverAborted())).to.equal(0);
    expect(allocator.lists).to.deep.equal([]);
  });
});

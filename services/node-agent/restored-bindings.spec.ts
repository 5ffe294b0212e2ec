import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../lib/errors.ts';
import type { BindingFiles, KeptBinding } from './binding-files.ts';
import { allocation, bound, FakeAllocator, fakeFiles, kept, never } from './fakes.ts';
import { createRestoring } from './restored-bindings.ts';
import { createTurns } from './turns.ts';

const other = { ...allocation, addresses: [{ address: '172.17.0.99', cidr: '172.17.0.0/16', gateway: '172.17.0.1' }] };

describe('the bindings of a restored ledger', () => {
  let allocator: FakeAllocator;
  let logged: string[];
  const left = new Set<string>();

  beforeEach(() => {
    allocator = new FakeAllocator();
    allocator.epoch = 2;
    logged = [];
    left.clear();
  });

  function restoringOf(files: BindingFiles): (signal: AbortSignal) => Promise<number> {
    const write = (line: string): void => void logged.push((JSON.parse(line) as { msg: string }).msg);
    return createRestoring({
      allocator,
      node: 'node-a',
      bootId: 'b-1',
      inTurn: createTurns(),
      files,
      isLeft: ({ containerId }) => left.has(containerId),
      log: pino({ level: 'warn' }, { write }),
    });
  }

  const filesOf = (...containers: KeptBinding[]): BindingFiles => fakeFiles(...containers);

  it('are bound again, without an ADD, as the same container, Pod uid, node and boot', async () => {
    const files = filesOf(kept('c1'), kept('c2'));
    const pass = restoringOf(files);
    expect(await pass(never())).to.equal(2);
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
    expect(await pass(never())).to.equal(0);
    expect(allocator.binds).to.have.length(2);
  });

  it('that the ledger has are left as they are', async () => {
    allocator.bindings = [bound('c1')];
    const files = filesOf(kept('c1'));
    expect(await restoringOf(files)(never())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
    expect(files.all()[0]).to.include({ epoch: 2 });
  });

  it('that were ended in a ledger that was not restored are not bound again', async () => {
    allocator.epoch = 1;
    expect(await restoringOf(filesOf(kept('c1')))(never())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
    expect(allocator.lists).to.have.length(1);
  });

  it('whose Pod has another address there are not bound, which is logged once', async () => {
    allocator.has = other;
    const files = filesOf(kept('c1'));
    const pass = restoringOf(files);
    expect(await pass(never())).to.equal(0);
    expect(await pass(never())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
    expect(logged).to.deep.equal([
      'the restored ledger does not take back the binding of 172.17.0.11: the ledger gives the Pod 172.17.0.99 now. While the container runs, quarantine the address: ipledger quarantine',
    ]);
    allocator.has = allocation; // an operator brought it back
    expect(await pass(never())).to.equal(1);
  });

  it('are ended again when the address changed between the look and the Bind', async () => {
    allocator.bindGives = other;
    expect(await restoringOf(filesOf(kept('c1')))(never())).to.equal(0);
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['c1']);
    expect(logged).to.have.length(1);
  });

  it('that the ledger refuses stay kept, and are tried again', async () => {
    let refuses = true;
    allocator = new FakeAllocator({
      wait: () => {
        if (refuses) throw new IpledgerError('NOT_ALLOCATED', 'Pod default/p has no allocation');
      },
    });
    allocator.epoch = 2;
    const pass = restoringOf(filesOf(kept('c1')));
    expect(await pass(never())).to.equal(0);
    expect(logged[0]).to.contain('Pod default/p has no allocation');
    refuses = false; // ipledger recover imported it
    expect(await pass(never())).to.equal(1);
  });

  it('of containers whose DEL waits, or came meanwhile, are not bound', async () => {
    left.add('c1');
    const files = filesOf(kept('c1'), kept('c2'));
    allocator = new FakeAllocator({ listBindings: () => files.drop(kept('c2')) });
    allocator.epoch = 2;
    expect(await restoringOf(files)(never())).to.equal(0);
    expect(allocator.binds).to.deep.equal([]);
  });

  it('ask nothing of the allocator while none is kept', async () => {
    expect(await restoringOf(filesOf())(never())).to.equal(0);
    expect(allocator.lists).to.deep.equal([]);
  });
});

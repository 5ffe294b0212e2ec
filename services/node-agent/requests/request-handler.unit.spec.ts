import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { IpledgerError } from '../../../lib/errors.ts';
import { createEarlierBoots } from '../bindings/earlier-boots.ts';
import { createKeyedMutex } from '../concurrency/keyed-mutex.ts';
import {
  failTimes,
  FakeBindingClient,
  fakeBindingFiles,
  fakeDataPath,
  lingeringBindings,
  neverAborted,
  rejectionOf,
  request,
  sandboxBinding,
  savedBinding,
  unansweredProbe,
} from '../testing/fakes.ts';
import { savePendingDel } from './pending-dels.ts';
import { createRequestHandler, type RequestHandlerDeps, status } from './request-handler.ts';

const log = pino({ level: 'silent' });
const socket = '/run/ipledger.sock';

describe('The handler of plugin requests', () => {
  let folder: string;
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'ipledger-requests-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function setUp(allocator: FakeBindingClient, more: Pick<RequestHandlerDeps, 'dataPath'> = {}) {
    const files = fakeBindingFiles();
    const runExclusive = createKeyedMutex();
    const earlierBoots = createEarlierBoots({ allocator, node: 'node-a', runExclusive, log }, 'b-1');
    const handle = createRequestHandler({
      allocator,
      files,
      runExclusive,
      earlierBoots,
      lookUpPod: () => Promise.reject(new Error('a request with a uid needs no lookup')),
      lookUpOvn4nfv: () => Promise.reject(new Error('no request is of this type')),
      readPodWarning: () => Promise.resolve(''),
      lingering: lingeringBindings(allocator, files),
      probe: unansweredProbe,
      sandbox: { prepare: () => Promise.resolve() },
      node: 'node-a',
      bootId: 'b-1',
      pendingDels: { folder, socket },
      log,
      ...more,
    });
    const addOrDel = (verb: 'add' | 'del', changes = {}) =>
      handle({ verb, request: request(changes), runtimeTrace: undefined }, neverAborted());
    return { files, earlierBoots, addOrDel };
  }

  it('DEL removes the binding file after the binding has ended', async () => {
    const filesAtUnbind: number[] = [];
    const allocator = new FakeBindingClient({ unbind: () => void filesAtUnbind.push(files.all().length) });
    const { files, addOrDel } = setUp(allocator);
    await addOrDel('add');
    expect(files.all()).to.have.length(1);
    await addOrDel('del');
    expect(filesAtUnbind).to.deep.equal([1]);
    expect(files.all()).to.deep.equal([]);
  });

  it('DEL ends the binding that serves the container, and no other binding', async () => {
    const allocator = new FakeBindingClient();
    const { files, addOrDel } = setUp(allocator);
    await files.save(savedBinding('c1', { boundAs: 'c0' }));
    await files.save(savedBinding('c2'));
    await addOrDel('del');
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['c0']);
    expect(files.all().map(({ containerId }) => containerId)).to.deep.equal(['c2']);
  });

  it('A failed DEL keeps the binding file, and saves no pending DEL for a permanent error', async () => {
    const damaged = new IpledgerError('LEDGER_DAMAGED', 'a gap');
    const { files, addOrDel } = setUp(new FakeBindingClient({ unbind: failTimes(damaged) }));
    await addOrDel('add');
    expect(await rejectionOf(addOrDel('del'))).to.include({ code: 'LEDGER_DAMAGED' });
    expect(files.all()).to.have.length(1);
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  it('DEL is saved as pending when the NIC cannot be removed now, so that the Pod can be deleted', async () => {
    const dataPath = fakeDataPath();
    dataPath.detachError = new IpledgerError('UNAVAILABLE', 'no connection to the Open vSwitch database');
    const { addOrDel } = setUp(new FakeBindingClient(), { dataPath });
    await addOrDel('del', { cni_type: 'kube-ovn' });
    expect(readdirSync(folder)).to.deep.equal(['c1@net1.json']);
  });

  it('A successful ADD removes the pending DEL of its container, whose replay would end the new binding', async () => {
    const { addOrDel } = setUp(new FakeBindingClient());
    await savePendingDel(folder, socket, request());
    await addOrDel('add');
    expect(existsSync(join(folder, 'c1@net1.json'))).to.equal(false);
  });

  it('A failed ADD keeps the pending DEL of its container', async () => {
    const { addOrDel } = setUp(
      new FakeBindingClient({ attach: failTimes(new IpledgerError('SUBNET_UNKNOWN', 'none')) }),
    );
    await savePendingDel(folder, socket, request());
    await rejectionOf(addOrDel('add'));
    expect(existsSync(join(folder, 'c1@net1.json'))).to.equal(true);
  });

  it('The binding of an ADD is kept while the bindings of earlier boots end', async () => {
    const listed = Promise.withResolvers<void>();
    const allocator = new FakeBindingClient({ listBindings: () => listed.promise });
    allocator.bindings = [sandboxBinding('c1', 'b-0'), sandboxBinding('c2', 'b-0')];
    const { earlierBoots, addOrDel } = setUp(allocator);
    const ended = earlierBoots.endBindings(neverAborted());
    await addOrDel('add');
    listed.resolve();
    await ended;
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['c2']);
  });

  it('DEL of a container runs after an ADD that arrived before it', async () => {
    const attaching = Promise.withResolvers<void>();
    const allocator = new FakeBindingClient({ attach: () => attaching.promise });
    const { files, addOrDel } = setUp(allocator);
    const [added, deleted] = [addOrDel('add'), addOrDel('del')];
    await new Promise(setImmediate);
    expect(allocator.unbinds).to.deep.equal([]);
    attaching.resolve();
    await Promise.all([added, deleted]);
    expect(files.all()).to.deep.equal([]);
    expect(allocator.unbinds).to.have.length(1);
  });
});

describe('STATUS', () => {
  it('STATUS succeeds when the writer answers an Unbind of a container that cannot exist', async () => {
    const allocator = new FakeBindingClient();
    await status(allocator, 'node-a', neverAborted());
    expect(allocator.unbinds.map(({ containerId }) => containerId)).to.deep.equal(['status-of-node-a']);
  });

  it('STATUS retries while a standby takes over', async () => {
    const allocator = new FakeBindingClient({ unbind: failTimes(new IpledgerError('NOT_WRITER', 'standby'), 3) });
    await status(allocator, 'node-a', neverAborted());
    expect(allocator.unbinds).to.have.length(4);
  });

  it('STATUS returns the allocator’s error', async () => {
    const damaged = new FakeBindingClient({ unbind: failTimes(new IpledgerError('LEDGER_DAMAGED', 'a gap')) });
    const error = await rejectionOf(status(damaged, 'node-a', neverAborted()));
    expect(error).to.include({ code: 'LEDGER_DAMAGED', message: 'the allocator is unavailable: a gap' });
  });
});

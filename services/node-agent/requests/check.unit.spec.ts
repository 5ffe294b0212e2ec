import { expect } from 'chai';
import { IpledgerError } from '../../../lib/errors.ts';
import type { Binding } from '../../../proto/generated/ipledger.ts';
import { check } from './check.ts';
import {
  allocation,
  failTimes,
  FakeBindingClient,
  fakeBindingFiles,
  neverAborted,
  rejectionOf,
  request,
  savedBinding,
} from '../testing/fakes.ts';

const binding = (containerId: string, name = 'net1'): Binding => ({
  containerId,
  interface: name,
  node: 'node-a',
  bootId: 'b-1',
  at: '',
});

const runCheck = (
  allocator: FakeBindingClient,
  addresses: readonly string[],
  changes: object = {},
  files = fakeBindingFiles(),
) =>
  check(
    {
      allocator,
      files,
      lookUpPod: () => Promise.resolve({ name: 'p', uid: 'uid of the API', podUid: 'uid of the API' }),
    },
    { verb: 'check', request: request(changes), addresses },
    neverAborted(),
  );

const allocatorWith = (...bindings: Binding[]): FakeBindingClient =>
  new FakeBindingClient({}, { ...allocation, bindings });

const subject = 'interface net1 of pod default/p (container c1): ';

describe('CHECK', () => {
  it('CHECK succeeds when the container has taken over the binding of a failed sandbox', async () => {
    const files = fakeBindingFiles(savedBinding('c1', { boundAs: 'c0' }));
    await runCheck(allocatorWith(binding('c0')), ['172.17.0.11/16'], {}, files);
  });

  it('CHECK succeeds when the container is bound to an address of prevResult', async () => {
    const allocator = allocatorWith(binding('c0'), binding('c1'));
    await runCheck(allocator, ['172.17.0.11/16']);
    await runCheck(allocator, ['10.0.0.1/8', '172.17.0.11/16']);
    expect(allocator.waits[0]).to.include({ podUid: 'u-1', containerId: 'c1', interface: 'net1', timeoutMs: 1 });
    await runCheck(allocator, ['172.17.0.11/16'], { pod_uid: '' });
    expect(allocator.waits.at(-1)?.podUid).to.equal('uid of the API');
    expect([...allocator.binds, ...allocator.unbinds]).to.deep.equal([]);
  });

  it('CHECK names the addresses that differ', async () => {
    for (const [prevAddresses, listed] of [
      [['172.17.0.12/16'], '172.17.0.12/16'],
      [['172.17.0.11/24'], '172.17.0.11/24'],
      [[], 'no address'],
    ] as const) {
      const error = await rejectionOf(runCheck(allocatorWith(binding('c1')), prevAddresses));
      expect(error.code).to.equal('CHECK_FAILED');
      expect(error.message).to.equal(`${subject}the ledger has 172.17.0.11/16, prevResult has ${listed}`);
    }
  });

  it('CHECK names the containers that have the address', async () => {
    const other = await rejectionOf(runCheck(allocatorWith(binding('c0'), binding('c1', 'net2')), ['172.17.0.11/16']));
    expect(other.message).to.equal(
      `${subject}172.17.0.11/16 is bound to container c0 as net1 and container c1 as net2, not to this one`,
    );
    const none = await rejectionOf(runCheck(allocatorWith(), ['172.17.0.11/16']));
    expect(none.message).to.equal(`${subject}172.17.0.11/16 is bound to no container, not to this one`);
    expect(none.code).to.equal('CHECK_FAILED');
  });

  it('CHECK fails without an allocation', async () => {
    const allocator = new FakeBindingClient({
      wait: failTimes(new IpledgerError('NOT_ALLOCATED', 'no address was requested')),
    });
    const error = await rejectionOf(runCheck(allocator, ['172.17.0.11/16']));
    expect(error).to.include({ code: 'CHECK_FAILED', message: `${subject}no address was requested` });
  });

  it('CHECK retries while the allocator is unavailable, and returns another code if it could not compare', async () => {
    const unavailable = new IpledgerError('UNAVAILABLE', 'connect ECONNREFUSED');
    const recovering = new FakeBindingClient(
      { wait: failTimes(unavailable, 2) },
      { ...allocation, bindings: [binding('c1')] },
    );
    await runCheck(recovering, ['172.17.0.11/16']);
    expect(recovering.waits).to.have.length(3);
    const damaged = new FakeBindingClient({
      wait: failTimes(new IpledgerError('LEDGER_DAMAGED', 'the log has a gap')),
    });
    expect(await rejectionOf(runCheck(damaged, []))).to.include({ code: 'LEDGER_DAMAGED' });
  });
});

import { expect } from 'chai';
import { IpledgerError } from '../../lib/errors.ts';
import type { Binding } from '../../proto/ipledger.ts';
import { check } from './check.ts';
import { allocation, failing, FakeAllocator, never, refusal, request } from './fakes.ts';

const binding = (containerId: string, name = 'net1'): Binding => ({
  containerId,
  interface: name,
  node: 'node-a',
  bootId: 'b-1',
  at: '',
});

const checked = (allocator: FakeAllocator, addresses: readonly string[], changes: object = {}) =>
  check(
    { allocator, identify: () => Promise.resolve({ name: 'p', uid: 'uid of the API', podUid: 'uid of the API' }) },
    { verb: 'check', request: request(changes), addresses },
    never(),
  );

const holding = (...bindings: Binding[]): FakeAllocator => new FakeAllocator({}, { ...allocation, bindings });

const who = 'interface net1 of pod default/p (container c1): ';

describe('CHECK', () => {
  it('is content with a container that is bound to what it remembers, among others', async () => {
    const allocator = holding(binding('c0'), binding('c1'));
    await checked(allocator, ['172.17.0.11/16']);
    await checked(allocator, ['10.0.0.1/8', '172.17.0.11/16']);
    expect(allocator.waits[0]).to.include({ podUid: 'u-1', containerId: 'c1', interface: 'net1', timeoutMs: 1 });
    await checked(allocator, ['172.17.0.11/16'], { pod_uid: '' });
    expect(allocator.waits.at(-1)?.podUid).to.equal('uid of the API');
    expect([...allocator.binds, ...allocator.unbinds]).to.deep.equal([]);
  });

  it('says which address differs', async () => {
    for (const [remembered, said] of [
      [['172.17.0.12/16'], '172.17.0.12/16'],
      [['172.17.0.11/24'], '172.17.0.11/24'],
      [[], 'no address'],
    ] as const) {
      const error = await refusal(checked(holding(binding('c1')), remembered));
      expect(error.code).to.equal('CHECK_FAILED');
      expect(error.message).to.equal(`${who}the ledger says 172.17.0.11/16, and prevResult says ${said}`);
    }
  });

  it('says to whom the address is bound instead', async () => {
    const other = await refusal(checked(holding(binding('c0'), binding('c1', 'net2')), ['172.17.0.11/16']));
    expect(other.message).to.equal(
      `${who}172.17.0.11/16 is not bound to it, but to container c0 as net1 and container c1 as net2`,
    );
    const none = await refusal(checked(holding(), ['172.17.0.11/16']));
    expect(none.message).to.equal(`${who}172.17.0.11/16 is not bound to it, but to no container`);
    expect(none.code).to.equal('CHECK_FAILED');
  });

  it('says that there is no allocation any more', async () => {
    const gone = new FakeAllocator({ wait: failing(new IpledgerError('NOT_ALLOCATED', 'nothing was asked for')) });
    const error = await refusal(checked(gone, ['172.17.0.11/16']));
    expect(error).to.include({ code: 'CHECK_FAILED', message: `${who}nothing was asked for` });
  });

  it('asks again while the allocator is away, and says nothing against the container when it cannot ask', async () => {
    const away = new IpledgerError('UNAVAILABLE', 'connect ECONNREFUSED');
    const back = new FakeAllocator({ wait: failing(away, 2) }, { ...allocation, bindings: [binding('c1')] });
    await checked(back, ['172.17.0.11/16']);
    expect(back.waits).to.have.length(3);
    const refused = new FakeAllocator({ wait: failing(new IpledgerError('LEDGER_DAMAGED', 'the log has a gap')) });
    expect(await refusal(checked(refused, []))).to.include({ code: 'LEDGER_DAMAGED' });
  });
});

import { expect } from 'chai';
import { call, connect, type Connection } from '../../lib/grpc/client.ts';
import { IpledgerError } from '../../lib/errors.ts';
import type { MessageInput, Method } from '../../proto/codec.ts';
import { IpamService, LedgerService, SubnetsService } from '../../proto/generated/ipledger.ts';
import { type Etcd, startEtcd } from '../harness/etcd.ts';
import { openRun, type Run } from '../harness/run.ts';
import { startAllocator } from '../harness/services.ts';

const remedy =
  'etcd is full: no address can be allocated or released. Compact and defragment it, then run: etcdctl alarm disarm';

describe('An allocator on an etcd that is at its quota', function () {
  this.timeout(120_000);
  let run: Run;
  let etcd: Etcd;
  let client: Connection;
  before(async () => {
    run = openRun();
    etcd = await startEtcd(run, { quotaBytes: 2 << 20 });
    client = connect((await startAllocator(run, { etcd })).endpoint, undefined);
    const spec = { cidrBlock: '172.17.0.0/16', provider: 'macvlan.default' };
    await send(SubnetsService.applySubnet, { name: 'macvlan', spec });
    await send(IpamService.allocate, requestOf('first'));
    await fill();
  });
  after(async () => {
    client.close();
    await run.end();
  });

  const send = <Request, Reply>(
    method: Method<Request, Reply, 'unary'>,
    request: MessageInput<Request>,
    timeoutMs = 20_000,
  ): Promise<Reply> => call(client, method, request, { timeoutMs });
  const failure = (sent: Promise<unknown>): Promise<IpledgerError> =>
    sent.then(() => Promise.reject(new Error('it succeeded')), IpledgerError.from);
  const requestOf = (name: string) => ({
    pod: { namespace: 'default', name, uid: `uid-${name}` },
    attachments: [{ provider: 'macvlan.default', subnets: ['macvlan'] }],
  });
  const sandboxOf = (pod: string) => ({
    namespace: 'default',
    pod,
    podUid: `uid-${pod}`,
    provider: 'macvlan.default',
    containerId: `container-of-${pod}`,
    interface: 'net1',
    node: 'node-1',
  });

  /** Writes until etcd refuses. */
  async function fill(): Promise<void> {
    const input = 'x'.repeat(500_000);
    for (;;)
      try {
        await etcd.etcdctl(['put', 'large'], { input });
      } catch (error) {
        expect(String(error)).to.contain('database space exceeded');
        return;
      }
  }

  it('An allocator on an etcd that is at its quota reports the full etcd to each caller while commands wait, answers reads, and continues once etcd has space', async () => {
    const [allocate, attach, bind] = await Promise.all([
      failure(send(IpamService.allocate, requestOf('second'), 4_000)),
      failure(send(IpamService.attach, { ...sandboxOf('third'), timeoutMs: 1_000 })),
      failure(send(IpamService.bind, sandboxOf('first'), 4_000)),
    ]);
    for (const { code, message } of [allocate, attach, bind])
      expect([code, message]).to.deep.equal(['LEDGER_NOT_WRITABLE', remedy]);
    const waiting = send(IpamService.allocate, requestOf('second'));
    const { cannotWrite } = await send(LedgerService.getStatus, {});
    expect(cannotWrite).to.include({ reason: 'etcd-full', message: remedy });
    const { allocations } = await send(IpamService.listAllocations, {});
    expect(allocations.map(({ podUid }) => podUid)).to.deep.equal(['uid-first']);

    const { header } = JSON.parse(await etcd.etcdctl(['get', 'large', '-w', 'json', '--keys-only'])) as {
      readonly header: { readonly revision: number };
    };
    await etcd.etcdctl(['compact', '--physical', String(header.revision)]);
    await etcd.etcdctl(['defrag']);
    await etcd.etcdctl(['alarm', 'disarm']);
    expect((await waiting).allocations).to.have.length(1);
  });
});

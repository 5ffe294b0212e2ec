import { expect } from 'chai';
import { call } from '../../../lib/grpc/client.ts';
import { IpamService, SubnetsService } from '../../../proto/generated/ipledger.ts';
import { installVirtualTime } from '../kernel/virtual-time.ts';
import { World } from '../kernel/world.ts';
import { addressOf, AllocatorCluster } from './allocator-cluster.ts';

const spec = { provider: 'lan.default', cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1' };
const timeoutMs = 20_000;

describe('A simulated cluster of allocators', () => {
  let uninstall: () => void;
  beforeEach(() => (uninstall = installVirtualTime()));
  afterEach(() => uninstall());

  /** Allocates one address after the other through each replica, while the writer crashes once. */
  async function allocate(seed: number) {
    const world = new World(seed);
    const cluster = new AllocatorCluster(world, { replicas: 3, seals: true });
    cluster.startAll();
    const addresses: (string | undefined)[] = [];
    const client = world.machine('client').start('client', async () => {
      const connections = cluster.names.map((name) => cluster.connect(client, addressOf(name)));
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      for (const [index, connection] of [...connections, ...connections].entries()) {
        if (index === 0) await call(connection, SubnetsService.applySubnet, { name: 'lan', spec }, { timeoutMs });
        if (index === 3) for (const each of cluster.running.slice(0, 2)) each.crash();
        if (index === 3) cluster.startAll();
        const pod = { namespace: 'default', name: `pod-${index}`, uid: `uid-${index}` };
        const attachments = [{ provider: 'lan.default', subnets: ['lan'] }];
        const send = () => call(connection, IpamService.allocate, { pod, attachments }, { timeoutMs });
        for (;;)
          try {
            addresses.push((await send()).allocations[0]?.addresses[0]?.address);
            break;
          } catch {
            await new Promise((resolve) => setTimeout(resolve, 1_000));
          }
      }
    });
    await world.runUntil(() => addresses.length === 6 || !client.isAlive, 120_000);
    if (client.failure !== undefined) throw client.failure as Error;
    return { addresses, hash: world.traceHash };
  }

  it('A simulated cluster of allocators allocates through each replica, also after two have crashed and started again', async () => {
    const { addresses } = await allocate(1);
    expect(addresses).to.deep.equal(['10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6', '10.0.0.7']);
  });

  it('A simulated cluster of allocators repeats with its seed', async () => {
    expect(await allocate(2)).to.deep.equal(await allocate(2));
    expect(await allocate(2)).to.not.deep.equal(await allocate(3));
  });
});

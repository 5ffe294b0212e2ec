/**
 * A claim key in etcd that another program changed: the allocator fences its address until the
 * operator restores the key, and serves all other addresses.
 */
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { call, connect } from '../../lib/grpc/client.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { IpamService } from '../../proto/generated/ipledger.ts';
import { createPod, deletePod, type ChurnedPod, waitForAddresses } from './pod-churn.ts';
import { type SeededRandom, createSeededRandom } from './seeded-random.ts';
import { testSize } from './test-size.ts';
import { startFaultEnvironment, type FaultEnvironment } from './fault-environment.ts';
import { runCheckCommand, expectInvariants } from './invariants.ts';

describe('faults: a claim key changed in etcd', function () {
  this.timeout(testSize.timeoutMs);
  let environment: FaultEnvironment;
  let random: SeededRandom;
  let lives: ChurnedPod[];
  before(async () => {
    environment = await startFaultEnvironment();
    random = createSeededRandom('edited claim');
    lives = [];
  });
  after(() => environment?.run.end());

  async function createSettledPod(name: string): Promise<ChurnedPod> {
    const life = await createPod(environment, name, random);
    lives.push(life);
    await waitForAddresses(environment, life);
    return life;
  }

  /** Returns a random address of a Pod, and the key of its claim. */
  function claimOf({ reportedAddresses }: ChurnedPod): { subnet: string; address: string; key: string } {
    const [subnet, addresses] = random.pick([...reportedAddresses]);
    const address = random.pick([...addresses].join(',').split(','));
    return { subnet, address, key: `/ipledger/v1/addr/${subnet}/${address}` };
  }

  const valueOf = async (key: string): Promise<string> =>
    (await environment.stack.etcd.etcdctl(['get', '--print-value-only', key])).trimEnd();

  const put = (key: string, value: string) => environment.stack.etcd.etcdctl(['put', key], { input: value });
  const edits: Record<string, (key: string, value: string) => Promise<unknown>> = {
    'has-unknown-uid': (key, value) => put(key, value.replace(/"uid":"[^"]*"/, '"uid":"unknown"')),
    'is-no-claim': (key) => put(key, '{"by": "hand"}'),
    'is-deleted': (key) => environment.stack.etcd.etcdctl(['del', key]),
  };

  it('A claim key changed in etcd fences its address with a message that names the repair, and does not affect other addresses', async () => {
    const others = [await createSettledPod('other'), await createSettledPod('another')];
    const victims = [];
    for (const [name, edit] of Object.entries(edits)) {
      const life = await createSettledPod(`key-${name}`);
      const claim = claimOf(life);
      const before = await valueOf(claim.key);
      await edit(claim.key, before);
      victims.push({ life, ...claim, before });
    }

    for (const { life } of victims) await deletePod(environment, life, { force: false });
    await deletePod(environment, others[0] as ChurnedPod, { force: false });
    await createSettledPod('later');
    for (const { life, address, subnet } of victims)
      expect(await releaseError(life)).to.deep.include({
        code: 'ADDRESS_FENCED',
        grpcStatus: status.DATA_LOSS,
        message: `${address} of subnet ${subnet} is fenced: another program changed its key in etcd. Restore the key from the log (ipledger check --keys prints the command): the allocators then serve the address again within seconds`,
      });
    const { code, stdout } = await runCheckCommand(environment);
    expect(code).to.equal(1);
    for (const { life, address, subnet } of victims) {
      expect(stdout).to.match(
        new RegExp(`^fenced +${address} of subnet ${subnet} +another etcd client changed its key`, 'm'),
      );
      expect(stdout).to.match(new RegExp(`^Pod ended +Pod default/${life.name} `, 'm'));
    }

    // Applies the repair that the message names. No allocator is restarted
    for (const { key, before } of victims) await put(key, before);
    await expectInvariants(environment, lives);
  });

  /** Returns the error of a release of the address. */
  async function releaseError({ name: pod, uid: podUid }: ChurnedPod): Promise<IpledgerError> {
    const client = connect(environment.stack.allocator.endpoint, undefined);
    const request = { namespace: 'default', pod, podUid, cause: 'RELEASE_CAUSE_OPERATOR' } as const;
    try {
      await call(client, IpamService.release, request, { timeoutMs: 10_000 });
    } catch (error) {
      return IpledgerError.from(error);
    } finally {
      client.close();
    }
    throw new Error('the address was released');
  }
});

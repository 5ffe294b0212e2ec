/**
 * A claim's key in etcd that somebody changed by hand: nothing is decided about that address until a person has looked, and
 * everything else goes on.
 */
import { status } from '@grpc/grpc-js';
import { expect } from 'chai';
import { call, connect } from '../../lib/rpc.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { IpamService } from '../../proto/ipledger.ts';
import { begin, end, type Life, untilShown } from './crowd.ts';
import { type Dice, openDice } from './dice.ts';
import { scale } from './scale.ts';
import { openStage, type Stage } from './stage.ts';
import { check, expectAllRight } from './verdict.ts';

describe('faults: a claim key edited by hand', function () {
  this.timeout(scale.timeoutMs);
  let stage: Stage;
  let dice: Dice;
  let lives: Life[];
  before(async () => {
    stage = await openStage();
    dice = openDice('edited claim');
    lives = [];
  });
  after(() => stage?.run.end());

  async function comes(name: string): Promise<Life> {
    const life = await begin(stage, name, dice);
    lives.push(life);
    await untilShown(stage, life);
    return life;
  }

  /** One of the addresses that a Pod has, and where its claim stands. */
  function claimOf({ told }: Life): { subnet: string; address: string; key: string } {
    const [subnet, addresses] = dice.pick([...told]);
    const address = dice.pick([...addresses].join(',').split(','));
    return { subnet, address, key: `/ipledger/v1/addr/${subnet}/${address}` };
  }

  const valueOf = async (key: string): Promise<string> =>
    (await stage.stack.etcd.etcdctl(['get', '--print-value-only', key])).trimEnd();

  const put = (key: string, value: string) => stage.stack.etcd.etcdctl(['put', key], { input: value });
  const edits: Record<string, (key: string, value: string) => Promise<unknown>> = {
    'names-nobody': (key, value) => put(key, value.replace(/"uid":"[^"]*"/, '"uid":"of-nobody"')),
    'is-no-claim': (key) => put(key, '{"by": "hand"}'),
    'was-written-again': (key, value) => put(key, value),
    'is-gone': (key) => stage.stack.etcd.etcdctl(['del', key]),
  };

  it('its address is fenced, with a sentence that says what to do; whoever else wants something gets it', async () => {
    const others = [await comes('other'), await comes('another')];
    const victims = [];
    for (const [name, edit] of Object.entries(edits)) {
      const life = await comes(`key-${name}`);
      const claim = claimOf(life);
      const before = await valueOf(claim.key);
      await edit(claim.key, before);
      victims.push({ life, ...claim, before });
    }

    for (const { life } of victims) await end(stage, life, { force: false });
    await end(stage, others[0] as Life, { force: false });
    await comes('later');
    for (const { life, address, subnet } of victims)
      expect(await refusalOf(life)).to.deep.include({
        code: 'ADDRESS_FENCED',
        grpcStatus: status.DATA_LOSS,
        message: `${address} of subnet ${subnet} is fenced: its key in etcd was changed by something else than ipledger; put back what the log says of it (ipledger check --claims has the command), then restart the allocators`,
      });
    const { code, stdout } = await check(stage);
    expect(code).to.equal(1);
    for (const { life, address, subnet } of victims) {
      expect(stdout).to.match(new RegExp(`^fenced +${address} of subnet ${subnet} +its key in etcd was changed`, 'm'));
      expect(stdout).to.match(new RegExp(`^holder gone +Pod default/${life.name} `, 'm'));
    }

    // What the sentence says.
    for (const { key, before } of victims) await put(key, before);
    await Promise.all(stage.allocators.map((allocator) => allocator.restart()));
    await expectAllRight(stage, lives);
  });

  /** What the allocator says to who would give the address back. */
  async function refusalOf({ name: pod, uid: podUid }: Life): Promise<IpledgerError> {
    const client = connect(stage.stack.allocator.endpoint, undefined);
    const request = { namespace: 'default', pod, podUid, cause: 'RELEASE_CAUSE_OPERATOR' } as const;
    try {
      await call(client, IpamService.release, request, { timeoutMs: 10_000 });
    } catch (error) {
      return IpledgerError.from(error);
    } finally {
      client.close();
    }
    throw new Error('it was released');
  }
});

import { expect } from 'chai';
import type { CallContext } from '../../../lib/grpc/server/serve.ts';
import { failureOf, createLatch, never, silentLog } from '../../../ledger/log/testing/running-writer.ts';
import type { AllocatorContext } from './allocator-context.ts';
import { submitCommand } from './run-query.ts';
import { RateLimiter } from './rate-limiter.ts';
import { serveAllocator } from './testing/served-allocator.ts';

const agent = (node: string): CallContext => ({ actor: `ipledger://agent/${node}`, ownNode: node, signal: never });
const unknown = { containerId: 'unknown', interface: 'net1', cause: 'container-deleted' } as const;
const done = (): Promise<string> => Promise.resolve('done');

describe('The rate limit of an agent', () => {
  let now: number;
  let limiter: RateLimiter;
  beforeEach(() => {
    now = 0;
    limiter = new RateLimiter({ agentRate: 20, agentBurst: 2_000 }, silentLog, () => now);
  });

  /** Sends commands at the same time. Returns the number that were executed. */
  async function countExecuted(count: number, context: CallContext): Promise<number> {
    const outcomes = await Promise.allSettled(
      Array.from({ length: count }, () => 0).map(() => limiter.admit(context, 'command', done)),
    );
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  }
  const countExecutedInTurn = async (count: number, context: CallContext): Promise<number> => {
    let sum = 0;
    for (let sent = 0; sent < count; sent++) sum += await countExecuted(1, context);
    return sum;
  };

  it('The rate limit of an agent admits a booting node with 250 Pods of 4 attachments: 1,000 unbinds and 1,000 binds', async () => {
    expect(await countExecutedInTurn(2_000, agent('node-1'))).to.equal(2_000);
  });

  it('The rate limit of an agent rejects further commands with advice, and admits more at the rate', async () => {
    await countExecutedInTurn(2_000, agent('node-1'));
    const error = await failureOf(limiter.admit(agent('node-1'), 'command', done));
    expect(error).to.include({ code: 'RATE_LIMITED', kind: 'transient' });
    expect(error.message).to.match(
      /^ipledger:\/\/agent\/node-1 sent more than 20 commands per second.*raise --agent-rate/,
    );
    now += 1_000;
    expect(await countExecutedInTurn(100, agent('node-1'))).to.equal(20);
  });

  it('The rate limit of an agent does not limit other agents', async () => {
    await countExecutedInTurn(2_100, agent('node-1'));
    expect(await countExecutedInTurn(100, agent('node-2'))).to.equal(100);
  });

  it('The rate limit of an agent admits queries of an agent that is over its command limit', async () => {
    await countExecutedInTurn(2_100, agent('node-1'));
    expect(await limiter.admit(agent('node-1'), 'query', done)).to.equal('done');
  });

  it('The rate limit of an agent admits 10,000 calls of the watcher, an operator and an anonymous caller', async () => {
    for (const actor of ['ipledger://watcher', 'ipledger://operator/anna', 'anonymous'])
      expect(await countExecuted(10_000, { actor, signal: never })).to.equal(10_000);
  });

  it('The rate limit of an agent bounds the calls in progress of one agent', async () => {
    const decided = createLatch();
    const waiting = Array.from({ length: 1_024 }, () =>
      limiter.admit(agent('node-1'), 'command', () => decided.opened),
    );
    const refused = await failureOf(limiter.admit(agent('node-1'), 'command', done));
    expect(refused.message).to.contain('has 1024 calls in progress');
    expect(await limiter.admit(agent('node-2'), 'command', done)).to.equal('done');
    decided.open();
    await Promise.all(waiting);
    expect(await limiter.admit(agent('node-1'), 'command', done)).to.equal('done');
  });

  it('The rate limit of an agent takes a token for each event of a command, and for each ten claims of a list', async () => {
    const [writing, reading] = [agent('node-1'), agent('node-2')];
    for (let sent = 0; sent < 200; sent++) await limiter.admit(writing, 'command', done, () => 10);
    expect(await failureOf(limiter.admit(writing, 'command', done))).to.have.property('code', 'RATE_LIMITED');
    now += 1_000;
    expect(await countExecutedInTurn(100, writing)).to.equal(20);
    for (let sent = 0; sent < 50; sent++) await limiter.admit(reading, 'list', done, () => 1_000);
    expect(await failureOf(limiter.admit(reading, 'query', done))).to.have.property('code', 'RATE_LIMITED');
  });

  it('the cost of a call beyond the remaining tokens is a debt, up to a burst', async () => {
    await countExecutedInTurn(1_999, agent('node-1'));
    await limiter.admit(agent('node-1'), 'command', done, () => 1_000_000);
    now += 100_000; // 2,000 more
    expect(await countExecutedInTurn(1, agent('node-1'))).to.equal(0);
    now += 1_000;
    expect(await countExecutedInTurn(100, agent('node-1'))).to.equal(20);
  });

  it('The rate limit of an agent admits eight lists of an agent at the same time, and its other calls too', async () => {
    const read = createLatch();
    const lists = Array.from({ length: 8 }, () => limiter.admit(agent('node-1'), 'list', () => read.opened));
    const refused = await failureOf(limiter.admit(agent('node-1'), 'list', done));
    expect(refused).to.have.property('code', 'RATE_LIMITED');
    expect(refused.message).to.contain('has 8 lists in progress');
    expect(await limiter.admit(agent('node-1'), 'command', done)).to.equal('done');
    read.open();
    await Promise.all(lists);
    expect(await limiter.admit(agent('node-1'), 'list', done)).to.equal('done');
  });

  it('The rate limit of an agent runs one list of a viewer at a time, further ones in order, and lists of other users in parallel', async () => {
    const started: string[] = [];
    const ends = new Map<string, () => void>();
    const list = (actor: string, name: string): Promise<unknown> =>
      limiter.admit({ actor, signal: never }, 'list', () => {
        started.push(name);
        return new Promise((resolve) => ends.set(name, () => resolve(name)));
      });
    const lists = ['a', 'b', 'c', 'd'].map((name) => list('ipledger://viewer', name));
    lists.push(list('ipledger://operator/anna', 'anna'));
    expect(started).to.deep.equal(['a', 'anna']);
    for (const [index, name] of ['a', 'b', 'c', 'd', 'anna'].entries()) {
      ends.get(name)?.();
      await lists[index];
    }
    expect(started).to.deep.equal(['a', 'anna', 'b', 'c', 'd']);
  });

  it('The rate limit of an agent keeps buckets for a bounded number of identities', async () => {
    for (let node = 0; node < 10_100; node++) await limiter.admit(agent(`node-${node}`), 'command', done);
    expect(limiter.identityCount).to.equal(10_000);
  });

  it('the replica that executes a call charges its caller, not a standby that forwards the call', async () => {
    await using served = await serveAllocator();
    const rateLimiter = new RateLimiter({ agentRate: 1, agentBurst: 1 }, silentLog, () => now);
    const send = (allocator: AllocatorContext, node: string) =>
      submitCommand(
        allocator,
        agent(node),
        (at) => ({ type: 'Unbind', now: at, ...unknown }),
        () => 'done',
      );
    const standby = { ...served.allocator, rateLimiter, writer: () => undefined };
    const writer = { ...served.allocator, rateLimiter };
    for (let sent = 0; sent < 3; sent++)
      expect(await failureOf(send(standby, 'node-1'))).to.have.property('code', 'NOT_WRITER');
    expect((await send(writer, 'node-1')).answer).to.equal('done');
    expect(await failureOf(send(writer, 'node-1'))).to.have.property('code', 'RATE_LIMITED');
    expect((await send(writer, 'node-2')).answer).to.equal('done');
  });

  it('a call of an agent that has used up its rate is refused before its request is read', async () => {
    limiter.refuseExhausted('ipledger://agent/node-1', 'command');
    await countExecutedInTurn(2_000, agent('node-1'));
    expect(() => limiter.refuseExhausted('ipledger://agent/node-1', 'command')).to.throw('sent more than 20 commands');
    limiter.refuseExhausted('ipledger://agent/node-1', 'query');
    limiter.refuseExhausted('ipledger://agent/node-2', 'command');
    now += 50;
    limiter.refuseExhausted('ipledger://agent/node-1', 'command');
    expect(await countExecutedInTurn(2, agent('node-1'))).to.equal(1);
  });

  it('the rate limit is off when the rate is 0', async () => {
    limiter = new RateLimiter({ agentRate: 0, agentBurst: 1 }, silentLog, () => now);
    expect(await countExecutedInTurn(5_000, agent('node-1'))).to.equal(5_000);
  });
});

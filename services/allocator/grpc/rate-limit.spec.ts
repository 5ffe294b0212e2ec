import { expect } from 'chai';
import type { CallContext } from '../../../lib/serving/serve.ts';
import { failureOf, gate, never, silent } from '../ledger/specification.ts';
import { type Allocator, command } from './allocator.ts';
import { RateLimiter } from './rate-limit.ts';
import { serveAllocator } from './specification.ts';

const agent = (node: string): CallContext => ({ actor: `ipledger://agent/${node}`, ownNode: node, signal: never });
const unknown = { containerId: 'unknown', interface: 'net1', cause: 'container-deleted' } as const;
const done = (): Promise<string> => Promise.resolve('done');

describe('The rate of an agent', () => {
  let now: number;
  let limiter: RateLimiter;
  beforeEach(() => {
    now = 0;
    limiter = new RateLimiter({ agentRate: 20, agentBurst: 2_000 }, silent, () => now);
  });

  /** How many of so many commands are done. */
  async function doneOf(count: number, context: CallContext): Promise<number> {
    const outcomes = await Promise.allSettled(
      Array.from({ length: count }, () => 0).map(() => limiter.admit(context, 'command', done)),
    );
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  }
  const inTurn = async (count: number, context: CallContext): Promise<number> => {
    let sum = 0;
    for (let sent = 0; sent < count; sent++) sum += await doneOf(1, context);
    return sum;
  };

  it('lets a node boot with 250 Pods of 4 attachments: 1,000 bindings end, 1,000 are made', async () => {
    expect(await inTurn(2_000, agent('node-1'))).to.equal(2_000);
  });

  it('refuses what is more, with what to do, and goes on at the rate', async () => {
    await inTurn(2_000, agent('node-1'));
    const error = await failureOf(limiter.admit(agent('node-1'), 'command', done));
    expect(error).to.include({ code: 'RATE_LIMITED', kind: 'transient' });
    expect(error.message).to.match(
      /^ipledger:\/\/agent\/node-1 sent more than 20 commands a second.*raise --agent-rate/,
    );
    now += 1_000;
    expect(await inTurn(100, agent('node-1'))).to.equal(20);
  });

  it('is that of one agent: others are served', async () => {
    await inTurn(2_100, agent('node-1'));
    expect(await inTurn(100, agent('node-2'))).to.equal(100);
  });

  it('leaves questions to an agent that has sent too many commands: its CNI waits go on', async () => {
    await inTurn(2_100, agent('node-1'));
    expect(await limiter.admit(agent('node-1'), 'question', done)).to.equal('done');
  });

  it('limits neither the watcher in a storm of 10,000 Pods nor an operator', async () => {
    for (const actor of ['ipledger://watcher', 'ipledger://operator/anna', 'anonymous'])
      expect(await doneOf(10_000, { actor, signal: never })).to.equal(10_000);
  });

  it('bounds what one agent has in progress, so that others do not wait behind it', async () => {
    const decided = gate();
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

  it('remembers a bounded number of identities, the last ones', async () => {
    for (let node = 0; node < 10_100; node++) await limiter.admit(agent(`node-${node}`), 'command', done);
    expect(limiter.size).to.equal(10_000);
  });

  it('is charged to the caller by the replica that decides, and not by a standby that passes on', async () => {
    await using served = await serveAllocator();
    const rates = new RateLimiter({ agentRate: 1, agentBurst: 1 }, silent, () => now);
    const send = (allocator: Allocator, node: string) =>
      command(
        allocator,
        agent(node),
        (at) => ({ type: 'Unbind', now: at, ...unknown }),
        () => 'done',
      );
    const standby = { ...served.allocator, rates, writer: () => undefined };
    const writer = { ...served.allocator, rates };
    for (let sent = 0; sent < 3; sent++)
      expect(await failureOf(send(standby, 'node-1'))).to.have.property('code', 'NOT_WRITER');
    expect((await send(writer, 'node-1')).answer).to.equal('done');
    expect(await failureOf(send(writer, 'node-1'))).to.have.property('code', 'RATE_LIMITED');
    expect((await send(writer, 'node-2')).answer).to.equal('done');
  });

  it('is none where it is set to 0', async () => {
    limiter = new RateLimiter({ agentRate: 0, agentBurst: 1 }, silent, () => now);
    expect(await inTurn(5_000, agent('node-1'))).to.equal(5_000);
  });
});

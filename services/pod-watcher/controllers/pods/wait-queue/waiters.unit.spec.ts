import { expect } from 'chai';
import { appliedSubnet } from '../../../testing/fakes.ts';
import { podWithNetwork } from '../testing/pod-controller-world.ts';
import { Waiters } from './waiters.ts';

describe('a Pod that requests any address', () => {
  const subnets = { get: (name: string) => appliedSubnet(name), names: () => [] };
  const plan = {
    attachments: [{ subnets: ['macvlan'] }],
    detached: [],
    ipamClaims: [],
    problems: [],
    requestedProviders: new Set<string>(),
    unserved: [],
    warnings: [],
    topics: new Set<string>(),
  };
  const createdAt = (second: number, name = `p${second}`) =>
    podWithNetwork(name, { metadata: { creationTimestamp: `2026-01-31T08:00:0${second}Z` } });
  const longerThanRecent = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 120));
  const createWaiters = (): Waiters =>
    new Waiters({ subnets, wake: () => undefined, signal: new AbortController().signal });

  it('a Pod that requests any address yields to an older waiting Pod until that Pod has requested once, however long it takes', async () => {
    const waiters = createWaiters();
    const [old, young] = [createdAt(1), createdAt(2)];
    waiters.wait('default/p1', old, new Set(['any:macvlan']));
    await longerThanRecent();
    const ahead = (): string[] => waiters.waitersAhead('default/p2', young, plan);
    expect([ahead(), ahead()]).to.deep.equal([['default/p1'], ['default/p1']]);
    waiters.markRequested('default/p1');
    await longerThanRecent();
    expect(ahead()).to.deep.equal([]);
    // Yields again after its own request.
    waiters.markRequested('default/p2');
    expect(ahead()).to.deep.equal(['default/p1']);
  });

  it('of two Pods that request any address, one that was created again yields, and the other does not yield to it', async () => {
    const waiters = createWaiters();
    waiters.wait('default/p1', createdAt(1), new Set(['any:macvlan']));
    waiters.wait('default/p2', createdAt(2), new Set(['any:macvlan']));
    await longerThanRecent();
    expect(waiters.waitersAhead('default/p1', createdAt(3, 'p1'), plan)).to.deep.equal(['default/p2']);
    expect(waiters.waitersAhead('default/p2', createdAt(2), plan)).to.deep.equal([]);
  });
});

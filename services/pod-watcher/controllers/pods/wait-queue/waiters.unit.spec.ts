import { expect } from 'chai';
import { appliedSubnet } from '../../../testing/fakes.ts';
import { podWithNetwork } from '../testing/pod-controller-world.ts';
import { Waiters } from './waiters.ts';

describe('a Pod that requests any address', () => {
  it('a Pod that requests any address yields to an older waiting Pod until that Pod has requested once, however long it takes', async () => {
    const subnets = { get: (name: string) => appliedSubnet(name), names: () => [] };
    const { signal } = new AbortController();
    const waiters = new Waiters({ subnets, wake: () => undefined, signal });
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
    const [old, young] = [1, 2].map((second) =>
      podWithNetwork(`p${second}`, { metadata: { creationTimestamp: `2026-01-31T08:00:0${second}Z` } }),
    );
    if (!old || !young) throw new Error('the fixture made no Pods');
    const longerThanRecent = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 120));
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
});

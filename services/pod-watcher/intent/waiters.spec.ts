import { expect } from 'chai';
import { inForce } from '../fakes.ts';
import { wanting } from './specification.ts';
import { Waiters } from './waiters.ts';

describe('the Pods that wait', () => {
  it('let an older one ask once before they ask, however long their own turn takes to come', async () => {
    const subnets = { inForce: (name: string) => inForce(name), names: () => [] };
    const { signal } = new AbortController();
    const waiters = new Waiters({ subnets, wake: () => undefined, signal });
    const plan = {
      attachments: [{ subnets: ['macvlan'] }],
      removed: [],
      problems: [],
      notes: [],
      warnings: [],
      topics: new Set<string>(),
    };
    const [old, young] = [1, 2].map((second) =>
      wanting(`p${second}`, { metadata: { creationTimestamp: `2026-01-31T08:00:0${second}Z` } }),
    );
    if (!old || !young) throw new Error('two Pods were made');
    const longerThanJustNow = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 120));
    waiters.wait('default/p1', old, new Set(['any:macvlan']));
    await longerThanJustNow();
    const ahead = (): string[] => waiters.aheadOf('default/p2', young, plan);
    expect([ahead(), ahead()]).to.deep.equal([['default/p1'], ['default/p1']]);
    waiters.asks('default/p1');
    await longerThanJustNow();
    expect(ahead()).to.deep.equal([]);
    // It has asked: the next time it looks again.
    waiters.asks('default/p2');
    expect(ahead()).to.deep.equal(['default/p1']);
  });
});

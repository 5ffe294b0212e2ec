import { expect } from 'chai';
import type { Outcome, Simulation } from './plan.ts';
import { shrink } from './shrink.ts';

const ids = Array.from({ length: 40 }, (_, index) => `c${index}`);

/** Fails while two items act, and in another way without a third one. */
const simulation: Simulation = {
  name: 'example',
  testedSeeds: 1,
  plan: () => ids.map((id, atMs) => ({ id, atMs, what: id })),
  run: (seed, { only = new Set(ids), keepsHistory = false } = {}) => {
    const invariant = !only.has('c7') ? 'another' : only.has('c3') && only.has('c31') ? 'order' : undefined;
    const violation = seed === 1 && invariant ? `${invariant}: seen` : undefined;
    const outcome: Outcome = {
      violation,
      invariant: violation === undefined ? undefined : invariant,
      traceHash: 0,
      steps: only.size,
      virtualMs: 0,
      events: 0,
      history: keepsHistory ? [...only] : [],
    };
    return Promise.resolve(outcome);
  },
};

describe('shrink', () => {
  it('shrink leaves the items without which the same invariant would hold', async () => {
    const found = await shrink(simulation, 1);
    expect([...(found?.only ?? [])]).to.deep.equal(['c3', 'c7', 'c31']);
    expect(found?.outcome.violation).to.equal('order: seen');
    expect(found?.outcome.history, 'the history of the short run').to.deep.equal(['c3', 'c7', 'c31']);
  });

  it('shrink returns undefined for a seed that does not fail', async () => {
    expect(await shrink(simulation, 2)).to.equal(undefined);
  });
});

import { expect } from 'chai';
import { silentLogger } from '../testing/fakes.ts';
import { isUnreachableFor, waitUntilReachable } from './allocator-reach.ts';

const everyMs = 1;

/** Makes a probe with these answers, of which the last is repeated. */
const answering = (...answers: boolean[]) => {
  const probes: boolean[] = [];
  const probe = (): Promise<boolean> => {
    const answer = answers[Math.min(probes.length, answers.length - 1)] ?? false;
    probes.push(answer);
    return Promise.resolve(answer);
  };
  return { probe, probes };
};

describe('The reach of the allocator', () => {
  const stop = new AbortController();
  after(() => stop.abort());
  const { signal } = stop;

  it('waitUntilReachable waits until the allocator answers, and reports its silence once', async () => {
    const { probe, probes } = answering(false, false, true);
    let reports = 0;
    await waitUntilReachable(probe, { log: silentLogger, signal, everyMs }, () => reports++);
    expect([probes.length, reports]).to.deep.equal([3, 1]);
  });

  it('isUnreachableFor resolves when no probe was answered for a time, and not after single silent probes', async () => {
    const alternating = answering(false, true, false, true, false, true, false);
    expect(await isUnreachableFor(1, alternating.probe, { signal, everyMs })).to.equal(true);
    expect(alternating.probes.length).to.be.greaterThan(7);
  });

  it('isUnreachableFor resolves to false when the term ends', async () => {
    const term = new AbortController();
    const probe = (): Promise<boolean> => (term.abort(), Promise.resolve(false));
    expect(await isUnreachableFor(1, probe, { signal: term.signal, everyMs })).to.equal(false);
  });
});

import { expect } from 'chai';
import fc from 'fast-check';
import { LedgerClock } from './clock.ts';

/** A machine whose clocks are set by hand. */
function machine(wall: number) {
  const now = { wall, monotonic: 5_000 };
  return { now, clock: new LedgerClock({ wall: () => now.wall, monotonic: () => now.monotonic }) };
}

describe('The ledger’s clock', () => {
  it('is the machine’s, while nothing is known', () => {
    const { clock } = machine(1_000_000);
    expect(clock.read()).to.deep.equal({ at: 1_000_000, clock: 1_000_000 });
  });

  it('goes on from the last event when the machine’s clock is behind it, and says what that shows', () => {
    const { now, clock } = machine(1_000_000);
    clock.observe(1_000_500);
    now.monotonic += 20.7;
    now.wall += 20;
    expect(clock.read()).to.deep.equal({ at: 1_000_520, clock: 1_000_020 });
  });

  it('is the machine’s again once that has caught up', () => {
    const { now, clock } = machine(1_000_000);
    clock.observe(1_000_500);
    now.wall = 1_000_501;
    expect(clock.read()).to.deep.equal({ at: 1_000_501, clock: 1_000_501 });
  });

  it('does not follow a jump of the machine’s clock that no event took part in', () => {
    const { now, clock } = machine(1_000_000);
    now.wall = 9_000_000;
    expect(clock.read().at).to.equal(9_000_000);
    now.wall = 1_000_001;
    expect(clock.read().at).to.equal(1_000_001);
  });

  it('is not before what it is told not to be before', () => {
    const { clock } = machine(1_000_000);
    expect(clock.read(1_000_007)).to.deep.equal({ at: 1_000_007, clock: 1_000_000 });
    expect(clock.read(999_999)).to.deep.equal({ at: 1_000_000, clock: 1_000_000 });
  });

  it('never goes back from event to event, whatever the machine’s clock does', () => {
    const step = fc.record({ set: fc.integer({ min: 0, max: 10_000_000 }), pass: fc.nat(1_000), commit: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const { now, clock } = machine(1_000_000);
        let last = 0;
        for (const { set, pass, commit } of steps) {
          now.wall = set;
          now.monotonic += pass;
          const reading = clock.read();
          expect(reading.at).to.be.at.least(last);
          expect(reading.clock).to.equal(set);
          if (!commit) continue;
          clock.observe(reading.at);
          last = reading.at;
        }
      }),
    );
  });

  it('does not go back for an older event', () => {
    const { clock } = machine(0);
    clock.observe(1_000);
    clock.observe(10);
    expect(clock.read().at).to.equal(1_000);
  });
});

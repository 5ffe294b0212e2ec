import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { expect } from 'chai';
import fc from 'fast-check';
import { LedgerClock } from './ledger-clock.ts';

const hour = 3_600_000;

/** A machine whose clocks a test can set. */
function machine(wall: number) {
  const now = { wall, monotonic: 5_000, asleep: 0 };
  const clock = new LedgerClock({
    wall: () => now.wall,
    monotonic: () => now.monotonic,
    sinceBoot: () => now.monotonic + now.asleep,
  });
  const jumps: number[] = [];
  clock.onJump = (aheadMs) => jumps.push(aheadMs);
  /** Lets time pass in steps of a second, and reads the clock at each. */
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      now.wall += 1_000;
      now.monotonic += 1_000;
      clock.read();
    }
  };
  return { now, clock, jumps, pass };
}

describe('LedgerClock', () => {
  it("LedgerClock shows the machine's clock before any event", () => {
    const { clock } = machine(1_000_000);
    expect(clock.read()).to.deep.equal({ at: 1_000_000, clock: 1_000_000 });
  });

  it("LedgerClock continues from the last event while the machine's clock is behind it", () => {
    const { now, clock } = machine(1_000_000);
    clock.observe(1_000_500);
    now.monotonic += 20.7;
    now.wall += 20;
    expect(clock.read()).to.deep.equal({ at: 1_000_520, clock: 1_000_020 });
  });

  it("LedgerClock shows the machine's clock again once that clock has caught up", () => {
    const { now, clock } = machine(1_000_000);
    clock.observe(1_000_500);
    now.wall = 1_000_501;
    expect(clock.read()).to.deep.equal({ at: 1_000_501, clock: 1_000_501 });
  });

  it('LedgerClock follows a correction of a few seconds by a time server, and is not ahead after the correction is reversed', () => {
    const { now, clock, jumps } = machine(1_000_000);
    for (let times = 0; times < 100; times++) {
      now.wall = 1_005_000;
      expect(clock.read().at).to.equal(1_005_000);
      now.wall = 1_000_000;
      expect(clock.read().at).to.equal(1_000_000);
    }
    expect(jumps).to.deep.equal([]);
  });

  it('LedgerClock does not follow a jump of an hour ahead, and reports the jump once', () => {
    const { now, clock, jumps, pass } = machine(1_000_000);
    now.wall += hour;
    const { at } = clock.read();
    expect(at).to.equal(1_000_000 + 5_000);
    expect([jumps, clock.aheadMs]).to.deep.equal([[hour - 5_000], hour - 5_000]);
    pass(60_000);
    expect(clock.read().at).to.equal(at + 66_000);
    expect(jumps).to.have.length(1);
  });

  it('LedgerClock does not follow the sum of small jumps between many events', () => {
    const { now, clock } = machine(1_000_000);
    for (let jump = 0; jump < 1_000; jump++) {
      now.wall += 4_000;
      clock.observe(clock.read().at);
    }
    expect(clock.read().at).to.equal(1_000_000 + 5_000);
  });

  it('LedgerClock does not follow a jump during a long pause', () => {
    const { now, clock } = machine(1_000_000);
    now.monotonic += 100 * hour;
    now.wall += 101 * hour;
    expect(clock.read().at).to.be.below(1_000_000 + 100 * hour + 7_000);
  });

  it('LedgerClock catches up with a clock that stays ahead by a tenth of the elapsed time, and reports the next jump', () => {
    const { now, clock, jumps, pass } = machine(1_000_000);
    now.wall += 60_000;
    pass(600_000);
    expect(clock.read().at).to.equal(1_000_000 + 660_000);
    expect(clock.aheadMs).to.equal(0);
    now.wall += hour;
    clock.read();
    expect(jumps).to.have.length(2);
  });

  it("LedgerClock shows the machine's clock immediately after a jump is corrected", () => {
    const { now, clock } = machine(1_000_000);
    now.wall += hour;
    clock.read();
    now.wall = 1_000_010;
    expect(clock.read().at).to.equal(1_000_010);
    expect(clock.aheadMs).to.equal(0);
  });

  it('LedgerClock counts the time in which the machine was suspended', () => {
    const { now, clock, jumps } = machine(1_000_000);
    now.asleep = hour;
    now.wall += hour;
    expect(clock.read().at).to.equal(1_000_000 + hour);
    expect(jumps).to.deep.equal([]);
    now.wall += hour;
    expect(clock.read().at).to.equal(1_000_000 + hour + 5_000);
  });

  it('LedgerClock continues from ledger time when the machine started in 1970 and was set later', () => {
    const { now, clock, pass } = machine(0);
    clock.observe(1_000_000_000);
    now.wall = 1_000_003_000;
    expect(clock.read().at).to.equal(1_000_000_000);
    pass(60_000);
    expect(clock.read().at).to.equal(1_000_063_000);
  });

  it('LedgerClock reports no jump of a clock that was corrected, and is still behind ledger time', () => {
    for (const behindMs of [0, 1_000]) {
      const { now, clock, jumps } = machine(0);
      clock.observe(1_000_000_000);
      now.wall = 1_000_000_000 - behindMs;
      expect(clock.read().at).to.equal(1_000_000_000);
      expect([clock.aheadMs, jumps]).to.deep.equal([0, []]);
    }
  });

  it('LedgerClock reports a jump of a millisecond more than the tolerance of five seconds, and follows it that far', () => {
    const { now, clock, jumps, pass } = machine(1_000_000);
    pass(600_000);
    now.wall += 5_001;
    expect(clock.read().at).to.equal(1_605_000);
    expect(jumps).to.deep.equal([1]);
  });

  it('LedgerClock keeps its tolerance ahead after a clock was set back by no more than that', () => {
    const { now, clock, jumps } = machine(1_000_000);
    now.wall -= 5_000;
    clock.read();
    now.wall += 10_000;
    expect(clock.read().at).to.equal(1_005_000);
    expect(jumps).to.deep.equal([]);
  });

  it('LedgerClock reports a jump back to the time before a clock was set back by an hour', () => {
    const { now, clock, jumps } = machine(2 * hour);
    now.wall -= hour;
    clock.read();
    now.wall += hour;
    expect(clock.read().at).to.equal(hour + 5_000);
    expect(jumps).to.deep.equal([hour - 5_000]);
  });

  it('LedgerClock counts no more suspended time than the clock shows', () => {
    const { now, clock } = machine(1_000_000);
    now.asleep = 2 * hour;
    now.wall += hour;
    expect(clock.read().at).to.equal(1_000_000 + hour);
    now.wall += hour;
    expect(clock.read().at).to.equal(1_000_000 + hour + 5_000);
  });

  it('LedgerClock counts suspended time also if the clock shows it some time after the machine resumed', () => {
    for (const firstMs of [0, 5_000]) {
      const { now, clock, jumps } = machine(1_000_000);
      now.asleep = hour;
      now.wall += firstMs;
      clock.read();
      now.wall = 1_000_000 + hour;
      expect(clock.read().at).to.equal(1_000_000 + hour);
      expect(jumps).to.deep.equal([]);
    }
  });

  it('LedgerClock takes all time for elapsed on a machine that is never suspended', () => {
    let wall = 1_000_000;
    const clock = new LedgerClock({ wall: () => wall, monotonic: () => 0 });
    wall += hour;
    expect(clock.read().at).to.equal(1_005_000);
  });

  it('LedgerClock measures by the uptime of this machine how long it was suspended', () => {
    const [{ uptime }, { now: wall }, monotonic] = [os, Date, performance.now.bind(performance)];
    const shift = (ms: number, suspendedSeconds: number): void => {
      os.uptime = () => 100 + suspendedSeconds;
      syncBuiltinESMExports();
      Date.now = () => 1_000_000 + ms;
      performance.now = () => 100_000;
    };
    try {
      shift(0, 0);
      const clock = new LedgerClock();
      shift(hour + 10_000, 3_600);
      expect(clock.read().at).to.equal(1_000_000 + hour + 5_000);
    } finally {
      os.uptime = uptime;
      syncBuiltinESMExports();
      [Date.now, performance.now] = [wall, monotonic];
    }
  });

  it('LedgerClock counts the time since an event was observed first', () => {
    const { now, clock } = machine(0);
    now.monotonic += 10_000;
    clock.observe(1_000_000);
    expect(clock.read().at).to.equal(1_000_000);
    now.monotonic += 50;
    clock.observe(1_000_000);
    expect(clock.read().at).to.equal(1_000_050);
  });

  it("LedgerClock shows the machine's clock at start after any idle time", () => {
    const { clock } = machine(1_000_000 + 1_000 * hour);
    clock.observe(1_000_000);
    expect(clock.read().at).to.equal(1_000_000 + 1_000 * hour);
  });

  it('LedgerClock is never before `notBefore`', () => {
    const { clock } = machine(1_000_000);
    expect(clock.read(1_000_007)).to.deep.equal({ at: 1_000_007, clock: 1_000_000 });
    expect(clock.read(999_999)).to.deep.equal({ at: 1_000_000, clock: 1_000_000 });
  });

  it('LedgerClock never decreases from event to event, for any clock of the machine', () => {
    const step = fc.record({ set: fc.integer({ min: 0, max: 10_000_000 }), pass: fc.nat(1_000), commit: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50, size: 'max' }), (steps) => {
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

  it('LedgerClock does not decrease after an older event', () => {
    const { clock } = machine(0);
    clock.observe(1_000);
    clock.observe(10);
    expect(clock.read().at).to.equal(1_000);
  });
});

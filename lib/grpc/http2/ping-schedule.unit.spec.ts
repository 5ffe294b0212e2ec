import { expect } from 'chai';
import { PingSchedule } from './ping-schedule.ts';

describe('PingSchedule', () => {
  const intervals = { keepaliveMs: 5, idleKeepaliveMs: 60 };
  /** The times of the pings on a connection that opens at 0 and sends calls at these times. */
  function pingTimes(until: number, calls: readonly number[]): number[] {
    const schedule = new PingSchedule(intervals, 0);
    const times: number[] = [];
    for (let now = 1; now <= until; now++) {
      const isCallDue = calls.includes(now) && schedule.isDueAtCall(now);
      if (isCallDue || (now % intervals.keepaliveMs === 0 && schedule.isDue(now))) times.push(now);
    }
    return times;
  }

  it('PingSchedule pings at the short interval while calls begin, and at the long one after the last call', () => {
    expect(pingTimes(30, [1, 29])).to.deep.equal([5, 10, 15, 20, 25, 30]);
    const idle = pingTimes(400, []).filter((time) => time > intervals.idleKeepaliveMs);
    expect(idle).to.deep.equal([115, 175, 235, 295, 355]);
  });

  it('PingSchedule pings at the first call after a pause, so that a lost connection is found during the call', () => {
    expect(pingTimes(302, [301]).slice(-2)).to.deep.equal([295, 301]);
    expect(pingTimes(298, [297]).slice(-1)).to.deep.equal([295]);
  });
});

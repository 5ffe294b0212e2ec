import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { ThrottledWarnings } from './throttled-warnings.ts';

describe('Throttled warning', () => {
  it('Throttled warning is logged once per interval, with the number of suppressed warnings', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
    const complaints = new ThrottledWarnings(log, 300);
    for (let times = 0; times < 3; times++) complaints.log('ips', { key: `ip:${times}` }, 'not taken');
    complaints.log('pods', {}, 'not taken');
    await sleep(310);
    complaints.log('ips', { key: 'ip:9' }, 'not taken');
    expect(lines.map(({ key, suppressed }) => [key, suppressed])).to.deep.equal([
      ['ip:0', undefined],
      [undefined, undefined],
      ['ip:9', 2],
    ]);
  });
});

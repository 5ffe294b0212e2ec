import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { Complaints } from './complaints.ts';

describe('a complaint', () => {
  it('is made once, then now and then with how many were like it', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
    const complaints = new Complaints(log, 300);
    for (let times = 0; times < 3; times++) complaints.make('ips', { key: `ip:${times}` }, 'not taken');
    complaints.make('pods', {}, 'not taken');
    await sleep(310);
    complaints.make('ips', { key: 'ip:9' }, 'not taken');
    expect(lines.map(({ key, moreLikeIt }) => [key, moreLikeIt])).to.deep.equal([
      ['ip:0', undefined],
      [undefined, undefined],
      ['ip:9', 2],
    ]);
  });
});

import { expect } from 'chai';
import { pino } from 'pino';
import { Alarms } from './alarm.ts';
import type { Happening } from './kubernetes/events.ts';

describe('an alarm', () => {
  function world() {
    const lines: { level: number; msg: string; reason: string }[] = [];
    const said: Happening[] = [];
    const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as (typeof lines)[0]) });
    const alarms = new Alarms(log, (happening) => said.push(happening));
    return { lines, said, alarms };
  }

  it('is an error in the log, an Event, and a sentence of /readyz, and is not said at each ring', () => {
    const { lines, said, alarms } = world();
    const bell = alarms.bell('PodsVanished');
    bell('60 are missing');
    bell('61 are missing');
    expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([[50, 'ALARM: 60 are missing']]);
    expect(said).to.deep.equal([{ type: 'Warning', reason: 'PodsVanished', message: '60 are missing' }]);
    expect(alarms.sentences).to.deep.equal(['61 are missing']);
  });

  it('ends by itself, which is said once; others last', () => {
    const { lines, alarms } = world();
    alarms.bell('NodesVanished')('6 are missing');
    const bell = alarms.bell('PodsVanished');
    bell(undefined);
    bell('60 are missing');
    bell(undefined);
    bell(undefined);
    expect(lines.map(({ msg }) => msg)).to.deep.equal([
      'ALARM: 6 are missing',
      'ALARM: 60 are missing',
      'the alarm is over',
    ]);
    expect(alarms.sentences).to.deep.equal(['6 are missing']);
  });
});

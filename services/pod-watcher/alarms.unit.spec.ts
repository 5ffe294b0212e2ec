import { expect } from 'chai';
import { pino } from 'pino';
import { Alarms } from './alarms.ts';
import type { PodEvent } from './kubernetes/event-recorder.ts';

describe('Alarm', () => {
  function world() {
    const lines: { level: number; msg: string; reason: string }[] = [];
    const events: PodEvent[] = [];
    const log = pino({}, { write: (line) => lines.push(JSON.parse(line) as (typeof lines)[0]) });
    const alarms = new Alarms(log, (event) => events.push(event));
    return { lines, events, alarms };
  }

  it('A repeated alarm logs an error, records an Event and appears in /readyz only once', () => {
    const { lines, events, alarms } = world();
    const setAlarm = alarms.setterFor('MassPodDeletion');
    setAlarm('60 are missing');
    setAlarm('61 are missing');
    expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([[50, 'ALARM: 60 are missing']]);
    expect(events).to.deep.equal([{ type: 'Warning', reason: 'MassPodDeletion', message: '60 are missing' }]);
    expect(alarms.messages).to.deep.equal(['61 are missing']);
  });

  it('A cleared alarm is logged once and recorded as an Event, and other alarms stay active', () => {
    const { lines, events, alarms } = world();
    alarms.setterFor('MassNodeDeletion')('6 are missing');
    const setAlarm = alarms.setterFor('MassPodDeletion');
    setAlarm(undefined);
    setAlarm('60 are missing');
    setAlarm(undefined);
    setAlarm(undefined);
    expect(lines.map(({ msg }) => msg)).to.deep.equal([
      'ALARM: 6 are missing',
      'ALARM: 60 are missing',
      'alarm cleared',
    ]);
    expect(alarms.messages).to.deep.equal(['6 are missing']);
    expect(events.slice(2)).to.deep.equal([
      { type: 'Normal', reason: 'MassPodDeletionEnded', message: 'the alarm has ended: 60 are missing' },
    ]);
  });
});

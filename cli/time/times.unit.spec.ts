import { expect } from 'chai';
import { CliError } from '../cli-error.ts';
import { parseTime, formatTime } from './times.ts';

const now = Date.parse('2026-11-17T14:05:00.000Z');

describe('Times of the command line', () => {
  let zone: string | undefined;
  before(() => {
    zone = process.env['TZ'];
    process.env['TZ'] = 'Europe/Berlin';
  });
  after(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  const valid: [string, string, string][] = [
    ['2026-11-17T14:05:00Z', '2026-11-17T14:05:00.000Z', '2026-11-17T14:05:00.000Z'],
    ['2026-11-17T14:05:00.250+02:00', '2026-11-17T12:05:00.250Z', '2026-11-17T12:05:00.250Z'],
    ['2026-11-17 14:05', '2026-11-17T13:05:00.000Z', '2026-11-17T14:05:00.000Z'],
    ['2026-07-17 14:05:30', '2026-07-17T12:05:30.000Z', '2026-07-17T14:05:30.000Z'],
    ['2026-11-17T14:05:30.5', '2026-11-17T13:05:30.500Z', '2026-11-17T14:05:30.500Z'],
    ['2026-11-17', '2026-11-16T23:00:00.000Z', '2026-11-17T00:00:00.000Z'],
    ['09:30', '2026-11-17T08:30:00.000Z', '2026-11-17T09:30:00.000Z'],
    ['now', '2026-11-17T14:05:00.000Z', '2026-11-17T14:05:00.000Z'],
    ['2h ago', '2026-11-17T12:05:00.000Z', '2026-11-17T12:05:00.000Z'],
    ['1h30m', '2026-11-17T12:35:00.000Z', '2026-11-17T12:35:00.000Z'],
    ['90 minutes ago', '2026-11-17T12:35:00.000Z', '2026-11-17T12:35:00.000Z'],
    ['2026-11-17 14:05Z', '2026-11-17T14:05:00.000Z', '2026-11-17T14:05:00.000Z'],
    ['2026-03-29', '2026-03-28T23:00:00.000Z', '2026-03-29T00:00:00.000Z'],
    ['2026-03-29 03:00', '2026-03-29T01:00:00.000Z', '2026-03-29T03:00:00.000Z'],
    ['2026-10-25 01:59', '2026-10-24T23:59:00.000Z', '2026-10-25T01:59:00.000Z'],
    ['2026-10-25 03:00', '2026-10-25T02:00:00.000Z', '2026-10-25T03:00:00.000Z'],
    ['1 week ago', '2026-11-10T14:05:00.000Z', '2026-11-10T14:05:00.000Z'],
  ];
  for (const [text, local, utc] of valid)
    it(`The command line parses the time ${text} in local time and in UTC`, () => {
      expect([parseTime(text, 'local', now), parseTime(text, 'utc', now)]).to.deep.equal([local, utc]);
    });

  for (const text of [
    '',
    'yesterday',
    '2026-02-30',
    '2026-11-17 25:00',
    '14:61',
    '2026-13-01',
    '5',
    'ago',
    '2 fortnights',
    '2026-02-30T00:00:00Z',
    '2026-03-29 02:30',
    '999999 weeks ago',
    '999999999999999 weeks ago',
  ])
    it(`The command line rejects the time ${JSON.stringify(text)}`, () => {
      expect(() => parseTime(text, 'local', now)).to.throw(CliError, `"${text}" is not a time`);
    });

  it('The command line rejects a local time that occurred twice and proposes both instants', () => {
    const either = "'2026-10-25 02:30:00.000+02:00' or '2026-10-25 02:30:00.000+01:00'";
    expect(() => parseTime('2026-10-25 02:30', 'local', now)).to.throw(
      CliError,
      `is ambiguous, because clocks were set back: use ${either}`,
    );
    expect(parseTime('2026-10-25 02:30:00.000+02:00', 'local', now)).to.equal('2026-10-25T00:30:00.000Z');
    expect(parseTime('2026-10-25 02:30:00.000+01:00', 'local', now)).to.equal('2026-10-25T01:30:00.000Z');
    expect(parseTime('2026-10-25 02:30', 'utc', now)).to.equal('2026-10-25T02:30:00.000Z');
  });

  it('The command line starts a day without midnight at its first instant', () => {
    process.env['TZ'] = 'America/Santiago';
    try {
      expect(parseTime('2026-09-06', 'local', now)).to.equal('2026-09-06T04:00:00.000Z');
    } finally {
      process.env['TZ'] = 'Europe/Berlin';
    }
  });

  it('The command line formats an instant in local time or in UTC, exactly on request', () => {
    const instant = '2026-11-17T14:05:00.250Z';
    expect(formatTime(instant, 'local')).to.equal('2026-11-17 15:05:00');
    expect(formatTime(instant, 'utc')).to.equal('2026-11-17 14:05:00Z');
    expect(formatTime(instant, 'local', true)).to.equal('2026-11-17 15:05:00.250+01:00');
    expect(formatTime(instant, 'utc', true)).to.equal('2026-11-17 14:05:00.250Z');
    expect(formatTime('', 'local')).to.equal('');
  });
});

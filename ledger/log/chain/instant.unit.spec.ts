import { expect } from 'chai';
import fc from 'fast-check';
import { formatTime, parseCanonicalInstant } from './instant.ts';

/** The reference: exactly the texts that `Date.toISOString` writes. */
function parseSlowly(text: string): number | undefined {
  const at = Date.parse(text);
  return Number.isNaN(at) || new Date(at).toISOString() !== text ? undefined : at;
}

describe('parseCanonicalInstant', () => {
  it('parseCanonicalInstant returns the time of each text that Date.toISOString writes', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        expect(parseCanonicalInstant(date.toISOString())).to.equal(date.getTime());
      }),
    );
  });

  it('parseCanonicalInstant returns undefined for every other text, even on the day of the last text', () => {
    const text = '2026-11-17T14:05:09.123Z';
    expect(parseCanonicalInstant(text)).to.equal(Date.parse(text));
    const others = [
      '2026-11-17T24:00:00.000Z',
      '2026-11-17T14:60:00.000Z',
      '2026-11-17T14:05:60.000Z',
      '2026-11-17T14:05:09.123+',
      '2026-11-17 14:05:09.123Z',
      '2026-11-17T14:05:09.12Z',
      '2026-11-17T14:05:09.1234Z',
      '2026-11-17T1a:05:09.123Z',
      '2026-11-31T14:05:09.123Z',
      '2026-11-17',
      '',
    ];
    for (const other of others) expect(parseCanonicalInstant(other), other).to.equal(undefined);
    for (const other of [undefined, null, 5, {}]) expect(parseCanonicalInstant(other as never)).to.equal(undefined);
  });

  it('parseCanonicalInstant parses a day once with Date.parse, which is slow, and no other time of that day', () => {
    const parse = Date.parse.bind(Date);
    let parsed = 0;
    Date.parse = (text) => (parsed++, parse(text));
    try {
      for (const day of ['2001-02-03', '2001-02-04']) {
        parseCanonicalInstant(`${day}T12:00:00.000Z`);
        parsed = 0;
        for (const time of ['00:00:00.000', '09:19:29.059', '12:34:56.789', '23:59:59.999'])
          expect(parseCanonicalInstant(`${day}T${time}Z`)).to.equal(parse(`${day}T${time}Z`));
        expect(parsed).to.equal(0);
      }
    } finally {
      Date.parse = parse;
    }
  });

  it('parseCanonicalInstant agrees with Date.toISOString for texts with one changed character', () => {
    const text = '2026-11-17T14:05:09.123Z';
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom(...'0123456789TZ:.-+ a'.split('')), (index, character) => {
        parseCanonicalInstant(text);
        const changed = text.slice(0, index) + character + text.slice(index + 1);
        expect(parseCanonicalInstant(changed), changed).to.equal(parseSlowly(changed));
      }),
      { numRuns: 500 },
    );
  });
});

describe('formatTime', () => {
  it('formatTime writes the text of Date.toISOString for each of several times, also for the last one again', () => {
    for (const at of [0, 0, 1_000, 0, Date.parse('2026-11-17T14:05:09.123Z')])
      expect(formatTime(at)).to.equal(new Date(at).toISOString());
  });
});

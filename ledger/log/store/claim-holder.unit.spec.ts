import { expect } from 'chai';
import { parseTime } from './claim-holder.ts';

describe('The time of a stored claim', () => {
  it('The time of a stored claim may have another form of the same time, as other programs write it', () => {
    const at = Date.UTC(2026, 10, 17, 14, 5);
    for (const text of ['2026-11-17T14:05:00.000Z', '2026-11-17T14:05:00Z', '2026-11-17T15:05:00+01:00'])
      expect(parseTime(text), text).to.equal(at);
  });

  it('The time of a stored claim is rejected when it is none', () => {
    for (const text of ['', 'noon', '2026-11-17T14:65:00.000Z'])
      expect(() => parseTime(text), text).to.throw(TypeError, `"${text}" is not a time`);
  });
});

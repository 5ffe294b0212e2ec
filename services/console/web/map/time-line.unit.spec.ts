import { expect } from 'chai';
import { stepAfter } from './time-line.ts';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const first = { seq: 1, at: at(0) };
const last = { seq: 900, at: at(2_000) };

describe('A play of the address map', () => {
  it('A play of the address map goes to the next event after a time without events', () => {
    const next = { seq: 8, at: at(500) };
    expect(stepAfter({ first, last, moment: { seq: 7, at: at(100) }, next })).to.deep.equal({ seq: '8' });
  });

  it('A play of the address map goes through many events by a part of the whole time', () => {
    const next = { seq: 8, at: at(101) };
    expect(stepAfter({ first, last, moment: { seq: 7, at: at(100) }, next })).to.deep.equal({ at: at(110) });
  });

  it('A play of the address map goes from event to event while all are of the same instant', () => {
    const [same, next] = [
      { seq: 1, at: at(0) },
      { seq: 2, at: at(0) },
    ];
    expect(stepAfter({ first: same, last: { seq: 3, at: at(0) }, moment: same, next })).to.deep.equal({ seq: '2' });
  });

  it('A play of the address map ends after the last event', () => {
    expect(stepAfter({ first, last, moment: last, next: null })).to.equal(undefined);
  });
});

/** Unit tests of figures, goals and quantiles. */
import { expect } from 'chai';
import { alternate, createMeasurement, isFarFromGoal, median, quantile } from './measurement.ts';

describe('A measurement', () => {
  const row = { name: 'verify', what: 'µs', goal: { atMost: 3 } } as const;

  it("A measurement has the median of its rounds' quotients as figure", () => {
    expect(createMeasurement({ ...row, ours: [200, 100, 120], floor: [100, 100, 100] })).to.deep.equal({
      name: 'verify',
      what: 'µs',
      ours: 120,
      floor: 100,
      figure: 1.2,
      spread: 0.8333,
      goal: { atMost: 3 },
      met: true,
    });
    expect(createMeasurement({ ...row, ours: [8], floor: [2] })).to.include({ figure: 4, met: false, spread: 0 });
  });

  it('without a floor has the median of its values as figure', () => {
    const measured = createMeasurement({ ...row, ours: [90, 60, 50], goal: { atMost: 60 } });
    expect(measured).to.include({ figure: 60, met: true }).and.not.to.have.property('floor');
  });

  it('A measurement is far from its goal below 0.7 of it', () => {
    const isFar = (figure: number, goal: { atMost: number } | { atLeast: number }): boolean =>
      isFarFromGoal({ figure, goal });
    expect([isFar(1.42, { atMost: 1 }), isFar(1.43, { atMost: 1 })]).to.deep.equal([false, true]);
    expect([isFar(0.71, { atLeast: 1 }), isFar(0.69, { atLeast: 1 })]).to.deep.equal([false, true]);
    expect(isFar(Number.NaN, { atMost: 1 })).to.equal(true);
  });

  it('A measurement takes turns with its floor after a round that only warms up', async () => {
    const order: string[] = [];
    const side = (name: string) => (round: number) => {
      order.push(`${name}${round}`);
      return Promise.resolve(round);
    };
    const values = await alternate(2, side('ours'), side('floor'));
    expect(order).to.deep.equal(['floor0', 'ours0', 'ours1', 'floor1', 'floor2', 'ours2']);
    expect(values).to.deep.equal({ ours: [1, 2], floor: [1, 2] });
  });

  it('A measurement is summarized by median and quantiles', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([median(values), quantile(values, 0.99), quantile(values, 1)]).to.deep.equal([50, 99, 100]);
    expect(median([3])).to.equal(3);
  });
});

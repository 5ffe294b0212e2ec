import { expect } from 'chai';
import { SharedValues } from './shared-values.ts';

describe('Shared values', () => {
  it('Shared values are the first values with their key', () => {
    const values = new SharedValues<{ readonly of: number }>();
    const first = { of: 1 };
    expect(values.share('a', first)).to.equal(first);
    expect(values.share('a', { of: 1 })).to.equal(first);
    expect(values.share('b', { of: 2 })).to.deep.equal({ of: 2 });
  });

  it('Shared values are forgotten when they are cleared', () => {
    const values = new SharedValues<{ readonly of: number }>();
    values.share('a', { of: 1 });
    values.clear();
    const second = { of: 1 };
    expect(values.share('a', second)).to.equal(second);
  });

  it('Shared values are forgotten beyond a number of keys', () => {
    const values = new SharedValues<{ readonly of: number }>();
    const first = values.share('0', { of: 0 });
    for (let key = 1; key < 4_096; key++) values.share(String(key), { of: key });
    expect(values.share('0', { of: 0 })).to.equal(first);
    values.share('4096', { of: 4_096 });
    const second = { of: 0 };
    expect(values.share('0', second)).to.equal(second);
  });
});

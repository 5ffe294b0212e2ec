import { expect } from 'chai';
import { selects, toSelector } from './label-selector.ts';

const labels = { team: 'blue', stage: 'test' };
const matches = (selector: unknown): boolean => selects(toSelector(selector), labels);
const expression = (key: string, operator: string, values: string[] = []) => ({
  matchExpressions: [{ key, operator, values }],
});

describe('a label selector', () => {
  it('selects who has all of its labels', () => {
    expect(matches({ matchLabels: { team: 'blue' } })).to.equal(true);
    expect(matches({ matchLabels: { team: 'blue', stage: 'live' } })).to.equal(false);
    expect(matches({})).to.equal(true);
  });

  it('selects by what a label may be, and whether it is there', () => {
    expect(matches(expression('team', 'In', ['red', 'blue']))).to.equal(true);
    expect(matches(expression('team', 'NotIn', ['red', 'blue']))).to.equal(false);
    expect(matches(expression('tier', 'NotIn', ['web']))).to.equal(true);
    expect(matches(expression('tier', 'In', ['web']))).to.equal(false);
    expect(matches(expression('team', 'Exists'))).to.equal(true);
    expect(matches(expression('team', 'DoesNotExist'))).to.equal(false);
  });

  it('selects nobody by what it does not know', () => {
    expect(matches(expression('team', 'Resembles', ['blue']))).to.equal(false);
  });
});

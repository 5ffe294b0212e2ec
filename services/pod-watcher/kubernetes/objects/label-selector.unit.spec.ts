import { expect } from 'chai';
import { matchesLabels, toSelector } from './label-selector.ts';

const labels = { team: 'blue', stage: 'test' };
const matches = (selector: unknown): boolean => matchesLabels(toSelector(selector), labels);
const expression = (key: string, operator: string, values: string[] = []) => ({
  matchExpressions: [{ key, operator, values }],
});

describe('Label selector', () => {
  it('Label selector matches labels that include all of its labels', () => {
    expect(matches({ matchLabels: { team: 'blue' } })).to.equal(true);
    expect(matches({ matchLabels: { team: 'blue', stage: 'live' } })).to.equal(false);
    expect(matches({})).to.equal(true);
  });

  it('Label selector matches by value and by presence of a label', () => {
    expect(matches(expression('team', 'In', ['red', 'blue']))).to.equal(true);
    expect(matches(expression('team', 'NotIn', ['red', 'blue']))).to.equal(false);
    expect(matches(expression('tier', 'NotIn', ['web']))).to.equal(true);
    expect(matches(expression('tier', 'In', ['web']))).to.equal(false);
    expect(matches(expression('team', 'Exists'))).to.equal(true);
    expect(matches(expression('team', 'DoesNotExist'))).to.equal(false);
  });

  it('Label selector matches nothing with an unknown operator', () => {
    expect(matches(expression('team', 'Resembles', ['blue']))).to.equal(false);
  });
});

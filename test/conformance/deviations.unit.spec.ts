import { join } from 'node:path';
import { expect } from 'chai';
import { readCases } from './case.ts';
import { type Deviation, deviations, expectationOf } from './deviations.ts';

const cases = readCases(join(import.meta.dirname, 'cases.json'));

describe('Deviation', () => {
  it('Deviation applies to at least one case', () => {
    const used = new Set(cases.map((testCase) => expectationOf(testCase).deviation));
    expect(deviations.map(({ behaviour }) => behaviour).filter((behaviour) => !used.has(behaviour))).to.deep.equal([
      // cases.json has no case for these.
      'A route that cannot be parsed fails the ADD',
      'An address with a prefix length is rejected before any allocation',
    ]);
  });

  it('Deviation exists for each superseded case', () => {
    const superseded = cases.filter(({ compat }) => compat === 'superseded');
    expect(superseded.filter((testCase) => expectationOf(testCase).deviation === undefined)).to.deep.equal([]);
  });

  it('Deviation does not depend on the id of a case', () => {
    for (const testCase of cases)
      expect(expectationOf({ ...testCase, id: 'another' }), testCase.id).to.deep.equal(expectationOf(testCase));
  });

  const testCase = {
    id: 'x',
    area: 'pods',
    given: { owner: 'StatefulSet web', list: [{ op: 'a' }, { op: 'b' }], fields: { 'net.ns/ip': '10.0.0.9/16' } },
    when: {},
    expect: { ip: 'theirs' },
    source: '',
    compat: 'quirk',
  };
  const deviation = (condition: Deviation['condition'], ours: Deviation['ours'] = { ip: 'ours' }): Deviation[] => [
    { behaviour: 'b', areas: ['pods'], condition, ours, why: 'w' },
  ];
  const expectation = (list: readonly Deviation[], of = testCase) => expectationOf(of, list).expect;

  it('Deviation applies when its condition matches', () => {
    expect(expectation(deviation({ compat: 'quirk', given: { owner: '/^StatefulSet/' } }))).to.deep.equal({
      ip: 'ours',
    });
    expect(expectation(deviation({ given: { list: { $some: { op: 'b' } } } }))).to.deep.equal({ ip: 'ours' });
  });

  it('Deviation does not apply when its condition or area does not match', () => {
    expect(expectation(deviation({ given: { owner: '/^Deployment/' } }))).to.deep.equal({ ip: 'theirs' });
    expect(expectation(deviation({ given: { list: { $some: { op: 'c' } } } }))).to.deep.equal({ ip: 'theirs' });
    expect(expectation(deviation({}), { ...testCase, area: 'others' })).to.deep.equal({ ip: 'theirs' });
  });

  it('Deviation may use a named group of its condition', () => {
    const entry = { $entry: { key: '/[/]ip$/', value: '/^(?<address>[^/]+)/' } };
    expect(expectation(deviation({ given: { fields: entry } }, { ip: '$<address>' }))).to.deep.equal({
      ip: '10.0.0.9',
    });
  });

  it('Deviation is not needed when the case has a recommendation', () => {
    const recommendedCase = {
      ...testCase,
      expect: { 'kube-ovn': { ip: 'a' }, recommended: { error: 'AddressOutOfRange' } },
    };
    expect(expectation([], recommendedCase as never)).to.deep.equal({ error: 'AddressOutOfRange' });
    const caseWithDefect = { ...testCase, expect: { 'kube-ovn': 'x', ['wanted']: 'one distinct IP per attachment' } };
    expect(expectation([], caseWithDefect as never)).to.deep.equal({ ['wanted']: 'one distinct IP per attachment' });
  });
});

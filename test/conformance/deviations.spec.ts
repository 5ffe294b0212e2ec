import { join } from 'node:path';
import { expect } from 'chai';
import { readCases } from './case.ts';
import { type Deviation, deviations, wantedOf } from './deviations.ts';

const cases = readCases(join(import.meta.dirname, 'cases.json'));

describe('deviations', () => {
  it('each is about some case', () => {
    const used = new Set(cases.map((the) => wantedOf(the).deviation));
    expect(deviations.map(({ behaviour }) => behaviour).filter((behaviour) => !used.has(behaviour))).to.deep.equal([
      // No case of ours has one.
      'A route that cannot be read fails the ADD',
      'An address with a prefix length is refused before anything is allocated',
    ]);
  });

  it('each case that Kube-OVN is told to be worse in has one', () => {
    const superseded = cases.filter(({ compat }) => compat === 'superseded');
    expect(superseded.filter((the) => wantedOf(the).deviation === undefined)).to.deep.equal([]);
  });

  it('know no case by its id', () => {
    for (const the of cases) expect(wantedOf({ ...the, id: 'another' }), the.id).to.deep.equal(wantedOf(the));
  });

  const the = {
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
  const expectation = (list: readonly Deviation[], of = the) => wantedOf(of, list).expect;

  it('hold where their condition is met', () => {
    expect(expectation(deviation({ compat: 'quirk', given: { owner: '/^StatefulSet/' } }))).to.deep.equal({
      ip: 'ours',
    });
    expect(expectation(deviation({ given: { list: { $some: { op: 'b' } } } }))).to.deep.equal({ ip: 'ours' });
  });

  it('do not hold elsewhere', () => {
    expect(expectation(deviation({ given: { owner: '/^Deployment/' } }))).to.deep.equal({ ip: 'theirs' });
    expect(expectation(deviation({ given: { list: { $some: { op: 'c' } } } }))).to.deep.equal({ ip: 'theirs' });
    expect(expectation(deviation({}), { ...the, area: 'others' })).to.deep.equal({ ip: 'theirs' });
  });

  it('may say again what a condition caught', () => {
    const entry = { $entry: { key: '/[/]ip$/', value: '/^(?<address>[^/]+)/' } };
    expect(expectation(deviation({ given: { fields: entry } }, { ip: '$<address>' }))).to.deep.equal({
      ip: '10.0.0.9',
    });
  });

  it('give way to what the case itself recommends', () => {
    const recommending = { ...the, expect: { 'kube-ovn': { ip: 'a' }, recommended: { error: 'AddressOutOfRange' } } };
    expect(expectation([], recommending as never)).to.deep.equal({ error: 'AddressOutOfRange' });
    const wanting = { ...the, expect: { 'kube-ovn': 'x', wanted: 'one distinct IP per attachment' } };
    expect(expectation([], wanting as never)).to.deep.equal({ wanted: 'one distinct IP per attachment' });
  });
});

import { expect } from 'chai';
import { parseMetrics } from './parse-metrics.ts';

describe('Metrics of a program', () => {
  it('Metrics of a program are those of ipledger, with unescaped labels', () => {
    const page = [
      '# HELP ipledger_x Help.',
      'ipledger_x{a="1,2",b="an \\"a\\"\\n{}"} 61',
      'ipledger_y 1.5e3',
      'ipledger_z NaN',
      'ipledger_s_bucket{le="1"} 4',
      'nodejs_version_info 1',
      'no metric at all',
      '',
    ].join('\n');
    expect(parseMetrics(page)).to.deep.equal([
      { name: 'ipledger_x', labels: { a: '1,2', b: 'an "a"\n{}' }, value: 61 },
      { name: 'ipledger_y', labels: {}, value: 1_500 },
    ]);
  });

  it('Metrics of a program of a hostile page are parsed in time that is linear in its length', () => {
    expect(parseMetrics(`ipledger_x{a="${'\\'.repeat(200_000)}`)).to.deep.equal([]);
    expect(parseMetrics(`ipledger_x{${'a="b",'.repeat(50_000)}} 1`)).to.have.length(1);
  });
});

/**
 * Parses the values that docs/annotations.md shows as the forms of addresses, MACs and routes, with
 * the rules of the programs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseAddress } from '../../ledger/domain/addresses/address.ts';
import { parseMac } from '../../ledger/domain/decide/rules/mac.ts';
import { readExcludes } from '../../ledger/domain/state/exclude-ips.ts';
import { parseRoutes } from '../../services/pod-watcher/kubernetes/objects/annotation-values.ts';
import { root } from '../harness/paths.ts';

const page = readFileSync(join(root, 'docs/annotations.md'), 'utf8');

/** The code in the second column of a row. @param first its first column */
function formsOf(first: string): string[] {
  const row = page.split('\n').find((line) => line.startsWith(`| ${first} |`));
  if (row === undefined) throw new Error(`docs/annotations.md has no row ${first}`);
  return [...(row.split(' | ')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

describe('docs/annotations.md', () => {
  it('docs/annotations.md shows only forms of an address that are accepted', () => {
    const forms = formsOf('an address');
    expect(forms).to.have.length(2);
    expect(forms.map(parseAddress)).to.not.include(undefined);
  });

  it('docs/annotations.md shows only forms of an excluded range that are accepted', () => {
    const problems: string[] = [];
    const intervals = readExcludes(formsOf('`excludeIps` of a Subnet'), problems);
    expect(problems).to.deep.equal([]);
    expect(intervals.map(({ first, last }) => last - first)).to.deep.equal([4n]);
  });

  it('docs/annotations.md shows three forms of the same MAC', () => {
    expect(formsOf('a MAC').map(parseMac)).to.deep.equal(Array.from({ length: 3 }, () => '02:00:00:53:6b:bb'));
  });

  it('docs/annotations.md shows a form of routes that is accepted', () => {
    const [routes = ''] = formsOf('`<provider>.kubernetes.io/routes`');
    expect(parseRoutes(routes)).to.deep.include({ value: [{ dst: '10.0.0.0/8', gw: '172.17.0.1' }] });
  });
});

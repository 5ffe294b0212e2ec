import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readFinders, withCounts } from './found-by.ts';
import { plantedBugs } from './planted-bugs.ts';

const root = join(import.meta.dirname, '..', '..');

describe('A planted bug', () => {
  it('A planted bug replaces text that occurs once in its file', () => {
    const wrong = plantedBugs.filter(({ file, from }) => {
      const path = join(root, file);
      return !existsSync(path) || readFileSync(path, 'utf8').split(from).length !== 2;
    });
    expect(wrong.map(({ file, name }) => `${file}: ${name}`)).to.deep.equal([]);
  });

  it('A planted bug changes the text, and names a spec', () => {
    for (const { name, from, to, specs } of plantedBugs) {
      expect(to, name).to.not.equal(from);
      for (const spec of specs) expect(globSync(spec, { cwd: root }), `${name}: ${spec}`).to.not.have.length(0);
    }
  });

  it('A planted bug has a name of its own, and suites that found it', () => {
    const finders = readFinders();
    expect(new Set(plantedBugs.map(({ name }) => name)).size).to.equal(plantedBugs.length);
    const names = plantedBugs.map(({ name }) => name);
    expect([...finders.keys()], 'run `make mutants`').to.have.members(names);
    for (const [name, suites] of finders) {
      expect(suites, name).to.not.have.length(0);
      for (const suite of suites) expect(existsSync(join(root, suite)), `${name}: ${suite}`).to.equal(true);
    }
  });

  it('A planted bug is counted in the guarantees for each promise whose suites found it', () => {
    const document = readFileSync(join(root, 'docs', 'guarantees.md'), 'utf8');
    expect(document).to.match(/\| \d+ \|$/m);
    expect(document).to.equal(withCounts(document, readFinders()));
  });
});

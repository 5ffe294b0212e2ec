import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
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
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { equivalentMutants, whyEquivalent } from './equivalent-mutants.ts';
import { mutantsOf } from './mutants.ts';
import { root } from './spec-graph.ts';

/** Returns a changed source for each mutant. */
const changedSources = (source: string): string[] =>
  mutantsOf('a.ts', source).map(({ start, end, to }) => source.slice(0, start) + to + source.slice(end));

describe('The mutants of a source', () => {
  it('The mutants of a source change one operator, condition, number or boolean', () => {
    expect(changedSources('const a = b < 3 && !c;')).to.deep.equal([
      'const a = b <= 3 && !c;',
      'const a = b < 4 && !c;',
      'const a = b < 3 || !c;',
      'const a = b < 3 && (c);',
    ]);
    expect(changedSources('if (isOpen) i++;')).to.deep.equal(['if (!(isOpen)) i++;', 'if (isOpen) i--;']);
    expect(changedSources('a = b ?? true;')).to.include.members(['a = b;', 'a = b ?? false;', ';']);
    expect(changedSources('list.some(f);')).to.deep.equal([';', 'list.every(f);']);
  });

  it('The mutants of a source change no method that every object has', () => {
    expect(changedSources('const a = b.toString() + c.constructor.name;')).to.deep.equal([
      'const a = b.toString() - c.constructor.name;',
    ]);
  });

  it('The mutants of a source drop a statement that is called for its effect', () => {
    expect(changedSources('f(); g();')).to.deep.equal(['; g();', 'f(); ;']);
  });

  it('The mutants of a source change a returned list, unless it is empty already', () => {
    expect(changedSources('function f() { return []; }')).to.deep.equal([]);
    expect(changedSources('function f() { return [a]; }')).to.deep.equal(['function f() { return []; }']);
  });

  it('The mutants of a source change no counter of a loop, which would not end', () => {
    expect(changedSources('for (; a < b; a++) c++;')).to.deep.equal([
      'for (; a <= b; a++) c++;',
      'for (; a < b; a++) c--;',
    ]);
  });

  it('The mutants of a source drop no statement that is all that a loop does, which would not end', () => {
    expect(changedSources('while (a < b) await c(1);')).to.deep.equal([
      'while (a <= b) await c(1);',
      'while (a < b) await c(2);',
    ]);
    expect(changedSources('while (a) { b(); c(); }')).to.include('while (a) { ; c(); }');
  });

  it('The mutants of a source change no line of the log', () => {
    expect(changedSources('log.info({ seq: seq + 1 }, a);')).to.deep.equal([]);
    expect(changedSources('this.#options.log.warn(a); this.#log.error(b);')).to.deep.equal([]);
    expect(changedSources("log[tries === 0 ? 'info' : 'debug']({ tries: tries + 1 }, b);")).to.deep.equal([]);
    expect(changedSources('if (!isAborted && a > 0) this.#log.info(b);')).to.deep.equal([]);
    expect(changedSources('if (a) log.info(b); else c = 1;')).to.include('if (!(a)) log.info(b); else c = 1;');
    expect(changedSources('catalog.info(a);')).to.deep.equal([';']);
    expect(changedSources('f(log);')).to.deep.equal([';']);
  });

  it('The mutants of a source change no constant of at least a hundred milliseconds or seconds by one of them', () => {
    expect(changedSources('const retryMs = 500;')).to.deep.equal([]);
    expect(changedSources('const retryMs = 99;')).to.deep.equal(['const retryMs = 100;']);
    expect(changedSources("const retry = { maxMs: 1_000, 'grpc.backoff_ms': 200, count: 100 };")).to.deep.equal([
      "const retry = { maxMs: 1_000, 'grpc.backoff_ms': 200, count: 101 };",
    ]);
    expect(changedSources('const maxRetries = 500;')).to.deep.equal(['const maxRetries = 501;']);
    expect(changedSources('const retryMs = 500 * a;')).to.deep.equal([
      'const retryMs = 501 * a;',
      'const retryMs = 500 / a;',
    ]);
  });

  it('The mutants of a source change no type, no text and no import', () => {
    const source = "import a from './a.ts';\nconst b: 1 | 2 = a as 1;\ntype C = true;\nconst d = 'e';";
    expect(changedSources(source)).to.deep.equal([]);
  });
});

describe('An equivalent mutant', () => {
  it('An equivalent mutant fits the source, and has a reason', () => {
    for (const { file, text, from, to, why } of equivalentMutants) {
      expect(existsSync(join(root, file)), file).to.equal(true);
      const source = readFileSync(join(root, file), 'utf8');
      expect(source.split(text), `${file}: ${text}`).to.have.length(2);
      const found = mutantsOf(file, source).filter((each) => whyEquivalent(each, source) === why);
      expect(
        found.map((each) => [each.from, each.to]),
        `${file}: ${text}`,
      ).to.deep.include([from, to]);
      expect(why.length).to.be.above(20);
    }
  });

  it('An equivalent mutant is only the one inside of the text, and no other one of its line', () => {
    const file = 'ledger/domain/events/change-claims.ts';
    const source = readFileSync(join(root, file), 'utf8');
    const line = source.slice(0, source.indexOf('before[0] === home')).split('\n').length;
    const zeros = mutantsOf(file, source).filter((each) => each.line === line && each.from === '0');
    expect(zeros.map((each) => whyEquivalent(each, source) !== undefined)).to.deep.equal([false, true]);
  });
});

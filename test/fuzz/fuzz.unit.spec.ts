/** Mutates each input that a program reads from outside a few hundred times, with a fixed seed. */
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { createSource } from '../faults/seeded-random.ts';
import { readCorpus } from './corpus.ts';
import { type FuzzTarget, tryInput } from './fuzz-target.ts';
import { mutate } from './mutate.ts';
import { runTarget } from './run-target.ts';
import { fuzzTargets } from './targets.ts';

const inputsPerTarget = 250;
const seed = 20_261_126;

describe('Bytes from outside', () => {
  for (const target of fuzzTargets)
    it(`Bytes from outside are read, or rejected with a clear error: ${target.name}`, async () => {
      const { inputs } = await runTarget(target, { seed, isDone: (count) => count >= inputsPerTarget });
      expect(inputs).to.be.at.least(inputsPerTarget);
    });

  it('Bytes from outside are accepted in the first example of each target', async () => {
    for (const target of fuzzTargets) {
      const outcome = await tryInput(target, Buffer.from(target.seeds()[0] ?? ''));
      if (target.isRefusing !== true) expect(outcome, target.name).to.equal('accepted');
    }
  });
});

describe('The fuzzer', () => {
  const target = (decode: FuzzTarget['decode'], more: Partial<FuzzTarget> = {}): FuzzTarget => {
    return { name: 'spec/none', format: 'json', maxBytes: 1_000, seeds: () => ['{"a":[1,"b"]}'], decode, ...more };
  };
  const failureOf = async (tried: FuzzTarget): Promise<string> =>
    runTarget(tried, { seed, isDone: (count) => count >= 500 }).then(
      () => 'nothing',
      (error: unknown) => (error as Error).message,
    );

  it('The fuzzer reports an error of the engine, an empty message, and a long message', async () => {
    const read = (input: Buffer): unknown => (JSON.parse(input.toString()) as { a: string[] }).a.length;
    expect(await failureOf(target(read))).to.match(/^spec\/none: an error of the program, not of the input: /);
    const rejections = [Error];
    const empty = (): never => {
      throw new Error('');
    };
    expect(await failureOf(target(empty, { rejections }))).to.equal('spec/none: an error without a message');
    const long = (): never => {
      throw new Error('x'.repeat(5_000));
    };
    expect(await failureOf(target(long, { rejections }))).to.equal('spec/none: a message of 5000 characters');
  });

  it('The fuzzer reports values out of proportion to the input', async () => {
    const grow = (input: Buffer): unknown => (input.includes('b') ? Array<string>(5_000).fill('') : '');
    expect(await failureOf(target(grow))).to.match(/^spec\/none: \d+ bytes became more than \d+ values$/);
  });

  it('The fuzzer makes equal inputs for equal seeds, other inputs for another seed, and none over the limit', () => {
    const seeds = { valid: [Buffer.from('{"a":[1,"b"],"c":{"d":"10.0.0.1"}}')], rare: [] };
    const inputsOf = (number: number): string[] => {
      const random = createSource(number);
      return Array.from({ length: 200 }, () => mutate('json', seeds, random, 500).toString('latin1'));
    };
    expect(inputsOf(1)).to.deep.equal(inputsOf(1));
    expect(inputsOf(1)).to.not.deep.equal(inputsOf(2));
    expect(Math.max(...inputsOf(1).map((input) => input.length))).to.be.at.most(500);
    expect(new Set(inputsOf(1)).size).to.be.at.least(150);
  });

  it('The fuzzer has a target for each corpus, and no empty corpus', () => {
    const folder = join(import.meta.dirname, 'corpus');
    const names = globSync('**', { cwd: folder, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => relative(folder, join(each.parentPath, each.name)));
    expect(fuzzTargets.map(({ name }) => `${name}.inputs`)).to.include.members(names);
    for (const name of names) expect(readCorpus({ name: name.replace(/\.inputs$/, '') }), name).to.not.have.length(0);
  });
});

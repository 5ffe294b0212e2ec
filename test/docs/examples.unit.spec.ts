/** Checks that each example of the documents is run by a spec. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { root } from '../harness/paths.ts';
import { type DocumentedExample, documentedExamples, documents } from './documented-commands.ts';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const readAll = (pattern: string): string =>
  globSync(pattern, { cwd: root, exclude: ['**/node_modules/**', 'test/docs/examples.unit.spec.ts'] })
    .map(read)
    .join('\n');

const specs = readAll('{test,local,services,ledger,cli,lib,build}/**/*.spec.ts');
/** The specs of `make e2e-chart`, which follow whole sections. */
const chartSpecs = readAll('test/chart/installation/*.ts');
const targets = new Set([...read('Makefile').matchAll(/^([a-z][a-z0-9-]*):/gm)].map(([, target]) => target));

/** Whether an example is a query, which test/audit/etcdctl-queries.int.spec.ts runs. */
const isQuery = ({ file, section }: DocumentedExample): boolean => file === 'docs/audit.md' && /^\d+\. /.test(section);

const isMake = ({ text }: DocumentedExample): boolean =>
  [...text.matchAll(/^(\S+) *(\S*)/gm)].every(([, program, target]) => program === 'make' && targets.has(target));

const isFollowed = ({ file, section }: DocumentedExample): boolean =>
  /^docs\/(install|operations)\.md$/.test(file) && chartSpecs.includes(`'${section}'`);

const isRun = (example: DocumentedExample): boolean =>
  example.name === undefined
    ? isQuery(example) || isMake(example) || isFollowed(example)
    : specs.includes(`'${example.file}', '${example.name}'`);

const examples = documents.flatMap(documentedExamples).filter(({ language }) => !['', 'text'].includes(language));

describe('The examples of README.md and docs', () => {
  it('The examples of README.md and docs are commands, YAML or JSON', () => {
    expect(examples).to.have.length.greaterThan(40);
    expect(examples.filter(({ language }) => !['sh', 'yaml', 'json'].includes(language))).to.deep.equal([]);
  });

  it('The examples of README.md and docs are each run by a spec', () => {
    const without = examples.filter((example) => !isRun(example));
    expect(without.map(({ file, section, text }) => `${file}, ${section}: ${text}`)).to.deep.equal([]);
  });

  it('The examples of README.md and docs have markers with distinct names', () => {
    for (const file of documents) {
      const names = documentedExamples(file).flatMap(({ name }) => name ?? []);
      expect(names, file).to.deep.equal([...new Set(names)]);
      const markers = read(file).match(/<!-- run: /g) ?? [];
      expect(markers, `markers of ${file} that no block follows`).to.have.length(names.length);
    }
  });
});

/**
 * Checks that each error code, annotation, verb and metric has its row in a document, and that a
 * spec uses it; and that the pod-watcher may write its annotations. Part of `make check`.
 * docs/where-a-change-goes.md lists the files of each.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verbTable } from '../../cli/verb-table.ts';
import { errorCodes } from '../../lib/errors.ts';
import { attachmentSuffixes, writtenSuffixes } from '../../services/pod-watcher/kubernetes/objects/annotation-table.ts';

const root = join(import.meta.dirname, '../..');
const read = (pattern: string, exclude: string[] = []): string =>
  globSync(pattern, { cwd: root, exclude })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');

const specs = read('{lib,ledger,services,cli,test,local}/**/*.{spec,fixture}.ts');
const documents = read('{README.md,docs/**/*.md}');
const metrics = [
  ...read('{services,lib}/**/*.ts', ['**/*.spec.ts', '**/testing/**']).matchAll(
    /'(ipledger_\w+|subnet_\w+_count|cni_\w+)'/g,
  ),
].map(([, name = '']) => name);

const permitted = [...read('deploy/rbac.yaml').matchAll(/'\[\.\]kubernetes\[\.\]io\/\((\S+)\)\$\|/g)].flatMap(
  ([, names = '']) => names.split(/[^a-z_]+/),
);

const errorRows = firstColumns('docs/error-codes.md');
const annotationRows = firstColumns('docs/annotations.md');
const metricRows = firstColumns('docs/metrics.md');

const failures = [
  ...errorCodes.flatMap((code) => [
    ...unless(errorRows.includes(`\`${code}\``), `docs/error-codes.md has no row for the error code ${code}`),
    ...unless(specs.includes(`'${code}'`), `no spec expects the error code ${code}`),
  ]),
  ...attachmentSuffixes.flatMap((suffix) => [
    ...unless(
      annotationRows.includes(`\`<provider>.kubernetes.io/${suffix}\``),
      `docs/annotations.md has no row for the annotation ${suffix}`,
    ),
    ...unless(new RegExp(`\\b${suffix}\\b`).test(specs), `no spec has the annotation ${suffix}`),
  ]),
  ...writtenSuffixes.flatMap((suffix) =>
    unless(permitted.includes(suffix), `the policy of deploy/rbac.yaml does not permit the annotation ${suffix}`),
  ),
  ...verbTable.flatMap(({ usage }) => {
    const [name = ''] = usage.split(' ');
    return [
      ...unless(documents.includes(`ipledger ${name}`), `no document shows the verb ${name}`),
      ...unless(specs.includes(`'${name}'`), `no spec runs the verb ${name}`),
    ];
  }),
  ...metrics.flatMap((name) => unless(metricRows.includes(`\`${name}\``), `docs/metrics.md has no row for ${name}`)),
];
for (const failure of failures) console.error(`${failure}: see docs/where-a-change-goes.md`);
if (failures.length > 0) process.exitCode = 1;

/** The first columns of a document's tables. */
function firstColumns(document: string): string {
  const rows = read(document)
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  return rows.map((line) => line.split(' | ')[0]).join('\n');
}

function unless(isFound: boolean, failure: string): string[] {
  return isFound ? [] : [failure];
}

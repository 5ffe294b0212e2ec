/**
 * Checks that an event type without its definition, or without an entry in a table over all types,
 * is a compile error.
 *
 * Compiles a copy of the sources in which the ledger and the API have one more event type. tsc must
 * report each of the places that docs/where-a-change-goes.md lists under "Add an event", and no
 * other file.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const places = [
  'cli/allocation-periods/allocation-periods.ts',
  'lib/ledger-text/event-summary.ts',
  'cli/verbs/recover/missing-events.ts',
  'ledger/domain/events/registry.ts',
  'ledger/log/chain/event-shapes.ts',
  'services/allocator/grpc/messages.ts',
  'services/ovn-projector/ledger/ledger-model.ts',
  'services/pod-watcher/ledger/ledger-events.ts',
  'services/read-model/store/address-entry.ts',
  'services/read-model/store/event-keys.ts',
  'services/read-model/store/name-marks.ts',
];

/**
 * The edits that a contributor makes: in the union of the ledger, and in the code generated from
 * the proto.
 */
const edits = [
  {
    file: 'ledger/domain/events/event.ts',
    find: 'export type Event =\n',
    replace:
      "export type ExampleHappened = Typed<'ExampleHappened', object>;\nexport type Event =\n  | ExampleHappened\n",
  },
  {
    file: 'proto/generated/ipledger.ts',
    find: '  claimsDropped?: ClaimsDropped;\n',
    replace: '  claimsDropped?: ClaimsDropped;\n  exampleHappened?: SubnetRetired;\n',
  },
];

const root = join(import.meta.dirname, '../..');
const sources = ['cli', 'ledger', 'lib', 'proto', 'services'];

const folder = copySources();
let failures: string[];
try {
  for (const edit of edits) applyEdit(folder, edit);
  failures = compare(filesWithErrors(folder));
} finally {
  rmSync(folder, { recursive: true });
}
for (const failure of failures) console.error(failure);
if (failures.length > 0) process.exitCode = 1;

function copySources(): string {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const copy = mkdtempSync(join(root, '.cache/event-registry-'));
  for (const name of sources)
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !path.endsWith('.spec.ts') && !path.endsWith('.pb.js'),
    });
  // The command line also imports these
  for (const file of ['package.json', 'deploy/monitoring/alerts.ts']) cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  writeFileSync(
    join(copy, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      include: sources,
      exclude: ['**/testing/**', 'services/console/web'],
    }),
  );
  return copy;
}

function applyEdit(copy: string, { file, find, replace }: (typeof edits)[number]): void {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  if (!text.includes(find)) throw new Error(`${file} has no "${find.trim()}": adapt the edit in this check`);
  writeFileSync(path, text.replace(find, replace));
}

function filesWithErrors(copy: string): ReadonlySet<string> {
  const { stdout, error } = spawnSync('tsc', ['--noEmit', '--pretty', 'false'], { cwd: copy, encoding: 'utf8' });
  if (error) throw error;
  return new Set([...stdout.matchAll(/^(\S+\.ts)\(\d+,\d+\): error /gm)].map(([, file = '']) => file));
}

function compare(found: ReadonlySet<string>): string[] {
  return [
    ...places
      .filter((place) => !found.has(place))
      .map((place) => `${place} compiles without one event type: type its table over all event types`),
    ...[...found]
      .filter((file) => !places.includes(file))
      .map(
        (file) =>
          `${file} does not compile with a new event type: add it to this check and to docs/where-a-change-goes.md`,
      ),
  ];
}

/**
 * `make bench`: each row measures one path of ipledger beside its floor or its peer, in turns, in
 * one run. Absolute figures depend on machine and load. Compare the ratios.
 *
 *   ROW=a,b   only these rows; `scale` for those that grow with the cluster and its history
 *   ROUNDS=n  rounds of each measurement (default 5)
 *   LONG=1    the rows and sizes that take hours
 *   FSYNC=1   each etcd waits for its disk
 *   CHECK=1   exit 1 when a row is below 0.7 of its goal
 *   PROFILE_FOLDER=path  write CPU profiles and flame graphs of all programs of ipledger (`make profile`)
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleFiles, bundlePrograms } from '../../build/bundle/bundle-programs.ts';
import { formatTextTable } from '../../cli/output/table.ts';
import { root } from '../harness/paths.ts';
import { printProgress } from '../harness/progress.ts';
import { openRun } from '../harness/run.ts';
import { bundlesVariable } from '../harness/services.ts';
import { benchGroups, rowNames, selectRows } from './bench-groups.ts';
import { drawProfiles } from './profile/draw-profiles.ts';
import { floorSources } from './floor-programs.ts';
import { checkedPart, formatGoal, isFarFromGoal, type Measurement } from './measurement.ts';

const size = process.env['LONG'] === '1' ? 'long' : 'normal';
const profileFolder = process.env['PROFILE_FOLDER'] ?? '';
const rounds = Number(process.env['ROUNDS'] || 5);
const names = rowNames(size);
const list = process.env['ROW'];
const selected = new Set(list === undefined ? names : selectRows(list, size));
const unknown = [...selected].filter((name) => !names.includes(name));
if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
  console.error(
    unknown.length > 0
      ? `no row ${unknown.join(', ')}: use scale, ${names.join(', ')}`
      : 'ROUNDS must be a whole number above 0',
  );
  process.exit(2);
}

const measurements: Measurement[] = [];
function record(measurement: Measurement): void {
  measurements.push(measurement);
  const { name, what, ours, floor, figure, goal } = measurement;
  printProgress(
    `  ${name}: ${ours}${floor === undefined ? '' : ` beside ${floor}`} ${what}; ${figure}, goal ${formatGoal(goal)}`,
  );
}

// The programs of ipledger start bundled, as their images have them, and the floors too. A flame
// graph names the files of the sources.
if (profileFolder === '') {
  const bundles = mkdtempSync(join(tmpdir(), 'ipledger-bench-'));
  process.on('exit', () => rmSync(bundles, { recursive: true, force: true }));
  await bundlePrograms(['allocator', 'pod-watcher', 'read-model', 'node-agent', 'console'], bundles);
  await bundleFiles(floorSources, bundles);
  process.env[bundlesVariable] = bundles;
}

for (const group of benchGroups) {
  const rows = new Set([...selected].filter((name) => [...group.rows, ...(group.longRows ?? [])].includes(name)));
  if (rows.size === 0) continue;
  const run = openRun();
  try {
    await group.measure({ run, rounds, rows, size, record });
  } finally {
    await run.end();
  }
}

const latest = join(root, '.cache', 'bench', 'latest.json');
mkdirSync(join(latest, '..'), { recursive: true });
writeFileSync(latest, `${JSON.stringify(measurements, null, 2)}\n`);
const cells = measurements.map(({ name, what, ours, floor = '-', figure, spread, goal, met }) =>
  [name, what, ours, floor, figure, `${Math.round(spread * 100)} %`, formatGoal(goal), met ? 'yes' : 'no'].map(String),
);
const header = ['NAME', 'WHAT', 'OURS', 'FLOOR', 'FIGURE', 'SPREAD', 'GOAL', 'MET'];
process.stdout.write(`\n${formatTextTable(header, cells)}`);
printProgress(`\nwritten to ${latest}`);
for (const graph of profileFolder === '' ? [] : drawProfiles(profileFolder)) printProgress(`flame graph: ${graph}`);
const far = measurements.filter(isFarFromGoal).map(({ name }) => name);
if (process.env['CHECK'] === '1' && far.length > 0) {
  console.error(`below ${checkedPart} of the goal: ${far.join(', ')}`);
  process.exit(1);
}

/**
 * `make bench`: how fast the ledger answers for its past, and how much room it takes, each beside a bare read of the same keys in
 * the same run. Figures of one machine under one load: it is the ratio that can be compared.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from '../../cli/table.ts';
import { root } from '../harness/paths.ts';
import { openRun } from '../harness/run.ts';
import { say } from '../harness/say.ts';
import { measureBytes } from './bytes.ts';
import type { Figure } from './figure.ts';
import { measureIndex } from './index.ts';
import { measureReplay, measureVerify } from './log.ts';
import { setStage } from './stage.ts';
import { measureWhoHad } from './who-had.ts';

const long = process.env['LONG'] === '1';
const events = Number(process.env['EVENTS'] ?? (long ? 10_000_000 : 1_000_000));
const rounds = Number(process.env['ROUNDS'] ?? 3);
const latest = join(root, '.cache', 'bench', 'latest.json');

const run = openRun();
const figures: Figure[] = [];
try {
  say(`a history of ${events} events on a real etcd:`);
  const stage = await setStage(run, events);
  const keep = (...found: readonly Figure[]): void => {
    figures.push(...found);
    for (const { name, ours, floor, ratio, what } of found)
      say(`  ${name}: ${ours} ${what}, the floor ${floor} (${ratio})`);
  };
  keep(...(await measureBytes(stage)));
  keep(await measureVerify(stage, rounds));
  keep(...(await measureWhoHad(stage, rounds)));
  keep(await measureReplay(stage));
  keep(...(await measureIndex(stage, rounds)));
} finally {
  await run.end();
}
mkdirSync(join(latest, '..'), { recursive: true });
writeFileSync(latest, `${JSON.stringify(figures, null, 2)}\n`);
const rows = figures.map(({ name, what, ours, floor, ratio, spread, goal, met }) =>
  [name, what, ours, floor, ratio, `${Math.round(spread * 100)} %`, goal, met ? 'yes' : 'no'].map(String),
);
process.stdout.write(`\n${table(['NAME', 'WHAT', 'OURS', 'FLOOR', 'RATIO', 'SPREAD', 'GOAL', 'MET'], rows)}`);
say(`\nwritten to ${latest}`);

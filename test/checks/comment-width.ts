/** Fails when a comment is wider than 100 columns; with --write wraps it. Part of `make check`. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wrapComments } from './wrap-comments.ts';

const width = 100;
const root = join(import.meta.dirname, '../..');
const files = execFileSync('git', ['ls-files', '-z', '*.ts'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && !file.startsWith('proto/generated/'));

for (const file of files) {
  const path = join(root, file);
  const source = readFileSync(path, 'utf8');
  const wrapped = wrapComments(source, width);
  if (wrapped === source) continue;
  if (process.argv.includes('--write')) {
    writeFileSync(path, wrapped);
    continue;
  }
  const lines = wrapped.split('\n');
  const line = source.split('\n').findIndex((each, at) => each !== lines[at]) + 1;
  console.error(
    `${file}:${line}: a comment is wider than ${width} columns. Run: node test/checks/comment-width.ts --write`,
  );
  process.exitCode = 1;
}

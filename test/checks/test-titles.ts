/**
 * Fails when the title of a spec begins with a verb: its subject is then in the suite around it,
 * and the title cannot be read or searched alone. Part of `make check`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Verbs that are no nouns: "lists" or "limits" may begin a title as its subject. */
const verbs = new Set(
  (
    'accepts adds admits allocates allows answers applies are binds can cannot closes compares connects ' +
    'contains continues covers creates decides delivers describes do does drops ends escapes exits explains ' +
    'exports fails finds follows freezes gets gives has have ignores imports includes is keeps lacks leads ' +
    'leaves lets loses makes marks matches may merges must names never opens parses passes permits prevents ' +
    'prints produces quarantines reads receives refuses rejects releases removes repeats replaces reports ' +
    'resolves restores returns runs sends serves sets shows signs skips starts stays stops stores streams ' +
    'succeeds takes throws uses verifies waits was were writes yields'
  ).split(' '),
);

const files = execFileSync('git', ['ls-files', '-z', '*.spec.ts', '*.contract.ts'], {
  cwd: root,
  encoding: 'utf8',
}).split('\0');

let count = 0;
for (const file of files.filter((name) => name !== '')) {
  const text = readFileSync(join(root, file), 'utf8');
  for (const match of text.matchAll(/\bit(?:\.only)?\(\s*['"`]([A-Za-z]+)[ '"`]/g)) {
    if (!verbs.has(match[1] ?? '')) continue;
    const line = text.slice(0, match.index).split('\n').length;
    console.error(`${file}:${line}: the title begins with the verb "${match[1]}": name its subject`);
    count += 1;
  }
}
if (count > 0) process.exitCode = 1;

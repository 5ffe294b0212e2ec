/** Whether this machine can have nodes, and why not. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun, runCommand } from '../command.ts';
import { type Ability, canMacvlan } from '../network.ts';
import { openRun, type Run } from '../run.ts';
import { createCgroup } from './cgroup.ts';
import { packaged } from './packaged.ts';

let ability: Promise<Ability> | undefined;

/** Tried out once a process. */
export function canRunNodes(): Promise<Ability> {
  return (ability ??= tryNode());
}

async function tryNode(): Promise<Ability> {
  const macvlan = await canMacvlan();
  if (!macvlan.able) return macvlan;
  const run = openRun();
  try {
    for (const name of ['containerd', 'ctr', 'runc'] as const) packaged(name);
    await expectStatic(packaged('busybox'));
    createCgroup(run, `ipledger-${run.id}-try`);
    await mountOverlay(run);
    return { able: true };
  } catch (error) {
    return { able: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await run.end();
  }
}

/** Alone in its image, it has no libraries. */
async function expectStatic(program: string): Promise<void> {
  const { code } = await runCommand('ldd', [program]);
  if (code === 0)
    throw new Error(`${program} needs libraries: \`sh test/harness/prerequisites node\` installs one that does not`);
}

/** On an overlay no second one can be put, and the folder for temporary files may be on one, as in many containers. */
async function mountOverlay(run: Run): Promise<void> {
  const folders = ['lower', 'upper', 'work', 'merged'].map((name) => join(run.folder, name));
  for (const folder of folders) mkdirSync(folder);
  const [lower, upper, work, merged] = folders;
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  await mustRun('unshare', ['--mount', 'mount', '-n', '-t', 'overlay', 'overlay', '-o', options, String(merged)]);
}

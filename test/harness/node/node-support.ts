/** Tests whether this machine can run nodes. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { mustRun, runCommand } from '../processes/command.ts';
import { type Capability, probeMacvlan } from '../network/network-namespaces.ts';
import { openRun, type Run } from '../run.ts';
import { createCgroup } from './cgroup.ts';
import { packagedProgram } from '../programs/packaged-programs.ts';

let ability: Promise<Capability> | undefined;

/** Whether this machine can run nodes, or the reason why not. Tested once per process. */
export function probeNodeSupport(): Promise<Capability> {
  return (ability ??= tryNode());
}

async function tryNode(): Promise<Capability> {
  const macvlan = await probeMacvlan();
  if (!macvlan.isAvailable) return macvlan;
  const run = openRun();
  try {
    for (const name of ['containerd', 'ctr', 'runc'] as const) packagedProgram(name);
    await expectStatic(packagedProgram('busybox'));
    createCgroup(run, `ipledger-${run.id}-try`);
    await mountOverlay(run);
    return { isAvailable: true };
  } catch (error) {
    return { isAvailable: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    await run.end();
  }
}

/** Checks that a program is static: the image contains only this program. */
async function expectStatic(program: string): Promise<void> {
  const { code } = await runCommand('ldd', [program]);
  if (code === 0)
    throw new Error(`${program} is not static: run \`sh test/harness/prerequisites node\` to install a static one`);
}

/**
 * Mounts an overlay. The temporary folder may itself be on an overlay, as in many containers, where
 * this fails.
 */
async function mountOverlay(run: Run): Promise<void> {
  const folders = ['lower', 'upper', 'work', 'merged'].map((name) => join(run.folder, name));
  for (const folder of folders) mkdirSync(folder);
  const [lower, upper, work, merged] = folders;
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  await mustRun('unshare', ['--mount', 'mount', '-n', '-t', 'overlay', 'overlay', '-o', options, String(merged)]);
}

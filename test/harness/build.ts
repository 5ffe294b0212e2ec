/**
 * Builds the real programs from the Go modules under test/tools. Beside each program lies a stamp of what it was built
 * from, so that a changed pin is built anew and a mere checkout is not. Builds take turns: two at once would each take
 * twice as long, and Kubernetes' need 4 GB.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue, type ProgramEntry, type ProgramName } from './catalogue.ts';
import { mustRun } from './command.ts';
import { withLock } from './lock.ts';
import { root } from './paths.ts';
import { inWords, say } from './say.ts';

const buildLimitMs = 60 * 60_000;
const progressEveryMs = 30_000;

export interface BuildOptions {
  readonly into: string;
  readonly signal?: AbortSignal | undefined;
}

/** Whether the folder has the program as it is pinned now. */
export function isBuilt(name: ProgramName, folder: string): boolean {
  const stamp = stampFile(name, folder);
  return existsSync(join(folder, name)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === pinOf(name);
}

/**
 * Builds a program into a folder, unless somebody else just did while we waited for our turn. Needs Go, and the module
 * proxy for what Go has not fetched before.
 * @throws Error with the last lines of the compiler when it fails.
 */
export async function buildProgram(name: ProgramName, { into, signal }: BuildOptions): Promise<void> {
  mkdirSync(join(into, '.built'), { recursive: true });
  const waiting = (): void => say(`${name}: waiting for another build …`);
  await withLock(
    join(into, '.built', 'lock'),
    async () => {
      if (!isBuilt(name, into)) await compile(name, { into, signal });
    },
    waiting,
  );
}

async function compile(name: ProgramName, { into, signal }: BuildOptions): Promise<void> {
  const { module, package: source, buildTime }: ProgramEntry = catalogue[name];
  say(`${name}: building ${source}; the first time this takes about ${buildTime} on 2 cores, plus the download`);
  const startedAt = Date.now();
  const progress = setInterval(() => say(`${name}: … ${inWords(Date.now() - startedAt)}`), progressEveryMs);
  const fresh = join(into, '.built', `${name}.new`);
  try {
    const args = ['build', '-trimpath', '-ldflags', `-s -w ${module.ldflags ?? ''}`.trimEnd(), '-o', fresh, source];
    await mustRun('setpriv', ['--pdeathsig', 'TERM', 'go', ...args], {
      folder: join(root, 'test', 'tools', module.name),
      env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
      timeoutMs: buildLimitMs,
      signal,
    });
  } finally {
    clearInterval(progress);
  }
  // In one step, so that nobody ever starts half a program.
  renameSync(fresh, join(into, name));
  writeFileSync(stampFile(name, into), pinOf(name));
  say(`${name}: built in ${inWords(Date.now() - startedAt)}`);
}

function stampFile(name: ProgramName, folder: string): string {
  return join(folder, '.built', `${name}.pin`);
}

function pinOf(name: ProgramName): string {
  const { module, package: source }: ProgramEntry = catalogue[name];
  const folder = join(root, 'test', 'tools', module.name);
  const hash = createHash('sha256').update(`${source}\n${module.ldflags ?? ''}\n`);
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(folder, file)));
  return hash.digest('hex');
}

/**
 * Builds programs from the Go modules in test/tools. A pin file beside each program records what it
 * was built from: a changed version causes a new build, a mere checkout does not. Builds run one
 * after the other, because two at the same time share the cores and compile the same packages
 * twice.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type GoModule, programCatalog, type ProgramEntry, type ProgramName } from './program-catalog.ts';
import { mustRun } from '../processes/command.ts';
import { withFileLock } from '../processes/file-lock.ts';
import { root } from '../paths.ts';
import { formatDuration, printProgress, showElapsed } from '../progress.ts';

const buildLimitMs = 60 * 60_000;

/**
 * The flags of the compiler. The linker drops debug data anyway (`-s -w`): a compiler that writes
 * none saves a tenth of the time. So does a rarer garbage collection of the compiler, for 1 GB of
 * memory.
 */
const compilerFlags = '-gcflags=all=-dwarf=false';
const compilerEnvironment = { CGO_ENABLED: '0', GOWORK: 'off', GOGC: '400' };

export interface BuildOptions {
  /** The folder of the programs. */
  readonly into: string;
  readonly signal?: AbortSignal | undefined;
}

/** Whether the folder has the program as it is pinned now. */
export function isBuilt(name: ProgramName, folder: string): boolean {
  const pin = pinFile(name, folder);
  return existsSync(join(folder, name)) && existsSync(pin) && readFileSync(pin, 'utf8') === pinOf(name);
}

/**
 * Builds the programs that the folder does not have: those of one Go module with one call of the
 * compiler. Needs Go, and the Go module proxy for modules that are not in Go's cache.
 * @throws Error with the last lines of the compiler when it fails.
 */
export async function buildPrograms(names: readonly ProgramName[], { into, signal }: BuildOptions): Promise<void> {
  mkdirSync(join(into, '.built'), { recursive: true });
  const waiting = (): void => printProgress(`${names.join(', ')}: waiting for another build …`);
  await withFileLock(
    join(into, '.built', 'lock'),
    async () => {
      const missing = names.filter((name) => !isBuilt(name, into));
      for (const programs of Map.groupBy(missing, (name): GoModule => programCatalog[name].module).values())
        await compile(programs, { into, signal });
    },
    waiting,
  );
}

/**
 * The folder of a Go module's sources, of the version and hash in test/tools. Downloads it if Go's
 * cache lacks it.
 */
export async function moduleFolder(tools: GoModule['name'], name: string): Promise<string> {
  const answer = await mustRun('go', ['mod', 'download', '-json', name], {
    folder: join(root, 'test', 'tools', tools),
    env: { ...process.env, GOWORK: 'off', GOFLAGS: '' },
    timeoutMs: buildLimitMs,
  });
  return (JSON.parse(answer) as { readonly Dir: string }).Dir;
}

/** Builds programs of one module. */
async function compile(names: readonly ProgramName[], { into, signal }: BuildOptions): Promise<void> {
  const entries = names.map((name): ProgramEntry => programCatalog[name]);
  const [first] = entries;
  if (!first) return;
  const seconds = entries.reduce((total, { buildSeconds }) => total + buildSeconds, 0);
  const startedAt = Date.now();
  const progress = showElapsed(
    `building ${names.join(', ')} (the first time about ${formatDuration(seconds * 1_000)} on 2 cores, and the download)`,
  );
  const fresh = join(into, '.built', 'new');
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh);
  try {
    const linkerFlags = `-s -w ${first.module.ldflags ?? ''}`.trimEnd();
    const args = ['build', '-trimpath', compilerFlags, '-ldflags', linkerFlags, '-o', fresh];
    await mustRun('setpriv', ['--pdeathsig', 'TERM', 'go', ...args, ...entries.map((entry) => entry.package)], {
      folder: join(root, 'test', 'tools', first.module.name),
      env: { ...process.env, ...compilerEnvironment },
      timeoutMs: buildLimitMs,
      signal,
    });
  } finally {
    progress.end();
  }
  for (const name of names) {
    // A rename is atomic: a program is never started half written
    renameSync(join(fresh, executableOf(programCatalog[name].package)), join(into, name));
    writeFileSync(pinFile(name, into), pinOf(name));
  }
  printProgress(`built ${names.join(', ')} in ${formatDuration(Date.now() - startedAt)}`);
}

/** The name that Go gives the executable of a package: its last part that is not a version. */
function executableOf(source: string): string {
  return basename(source.replace(/\/v\d+$/, ''));
}

function pinFile(name: ProgramName, folder: string): string {
  return join(folder, '.built', `${name}.pin`);
}

function pinOf(name: ProgramName): string {
  const { module, package: source }: ProgramEntry = programCatalog[name];
  const folder = join(root, 'test', 'tools', module.name);
  const hash = createHash('sha256').update(`${source}\n${module.ldflags ?? ''}\n`);
  const ownFolder = source.startsWith('ipledger/') ? join(root, source.slice('ipledger/'.length)) : folder;
  const own = readdirSync(ownFolder).filter((file) => file.endsWith('.go'));
  for (const file of ['go.mod', 'go.sum'].map((name) => join(folder, name))) hash.update(readFileSync(file));
  for (const name of own.sort()) hash.update(readFileSync(join(ownFolder, name)));
  return hash.digest('hex');
}

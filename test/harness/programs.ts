/**
 * Finds the real programs. Each is looked for in
 *   1. an environment variable of its own: ETCD_BIN, ETCDCTL_BIN, KUBE_APISERVER_BIN, KUBE_CONTROLLER_MANAGER_BIN,
 *      KUBE_SCHEDULER_BIN, KUBELET_BIN, KUBECTL_BIN, CNITOOL_BIN, GRPCURL_BIN, ETCDUTL_BIN, VERSITYGW_BIN (files), CNI_PLUGINS_DIR (the folder of the
 *      reference plugins);
 *   2. the folder KUBEBUILDER_ASSETS;  3. PATH;  4. the project's `.cache/bin`;
 * else it is built from the pinned Go modules under test/tools into `.cache/bin`. One that is too old is passed over
 * aloud; one that the user named and that won't do is an error, as the user should know.
 */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { buildProgram, isBuilt } from './build.ts';
import { catalogue, pluginNames, type ProgramEntry, type ProgramName } from './catalogue.ts';
import { runCommand } from './command.ts';
import { builtFolder } from './paths.ts';
import { say } from './say.ts';
import { describeRange, isWithin, parseVersion } from './version.ts';

/** What the search depends on; tests bring their own. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
  /** Whether `.cache/bin` has the program as test/tools pins it now. */
  readonly isBuilt: (name: ProgramName) => boolean;
  readonly build: (name: ProgramName) => Promise<void>;
  readonly builtFolder: string;
}

const found = new Map<ProgramName | 'plugins', Promise<string>>();

function surroundings(signal?: AbortSignal): Surroundings {
  return {
    env: process.env,
    say,
    isBuilt: (name) => isBuilt(name, builtFolder),
    build: (name) => buildProgram(name, { into: builtFolder, signal }),
    builtFolder,
  };
}

/**
 * The path of a program; it is looked for (or built) once a process.
 * @throws Error when the user named one that won't do, or it can't be built.
 */
export function findProgram(name: ProgramName, signal?: AbortSignal): Promise<string> {
  return once(name, () => locateProgram(name, surroundings(signal)));
}

/** The folder of the reference plugins, all of one origin; as `findProgram`. */
export function findPlugins(signal?: AbortSignal): Promise<string> {
  return once('plugins', () => locatePlugins(surroundings(signal)));
}

function once(key: ProgramName | 'plugins', locate: () => Promise<string>): Promise<string> {
  let path = found.get(key);
  if (!path) {
    path = locate();
    path.catch(() => found.delete(key));
    found.set(key, path);
  }
  return path;
}

/** `findProgram` without its memory. */
export async function locateProgram(name: ProgramName, around: Surroundings): Promise<string> {
  const entry: ProgramEntry = catalogue[name];
  const named = around.env[entry.variable];
  if (named) {
    const file = entry.variableNames === 'folder' ? join(named, name) : named;
    const problem = await problemOf(file, entry);
    if (problem) throw new Error(`${entry.variable}=${named}: ${problem}`);
    return file;
  }
  for (const folder of foldersOf(around.env)) {
    const file = join(folder, name);
    if (!isExecutable(file)) continue;
    const problem = await problemOf(file, entry);
    if (!problem) return file;
    around.say(`${name}: passed over ${problem}`);
  }
  if (!around.isBuilt(name)) await around.build(name);
  return join(around.builtFolder, name);
}

/** `findPlugins` without its memory. */
export async function locatePlugins(around: Surroundings): Promise<string> {
  const named = around.env['CNI_PLUGINS_DIR'];
  if (named) {
    const missing = pluginNames.filter((name) => !isExecutable(join(named, name)));
    if (missing.length > 0) throw new Error(`CNI_PLUGINS_DIR=${named}: no ${missing.join(', ')} there`);
    return named;
  }
  const complete = foldersOf(around.env).find((folder) =>
    pluginNames.every((name) => isExecutable(join(folder, name))),
  );
  if (complete) return complete;
  for (const name of pluginNames) if (!around.isBuilt(name)) await around.build(name);
  return around.builtFolder;
}

function foldersOf(env: NodeJS.ProcessEnv): string[] {
  const folders = [env['KUBEBUILDER_ASSETS'] ?? '', ...(env['PATH'] ?? '').split(delimiter)].filter(
    // The env file of `make up` puts a folder of links to what was found on PATH: not an origin.
    (folder) => existsSync(folder) && !dirname(folder).endsWith('/.cache/up'),
  );
  return [...new Set(folders.map((folder) => realpathSync(folder)))];
}

async function problemOf(file: string, { version }: ProgramEntry): Promise<string | undefined> {
  if (!isExecutable(file)) return `no program at ${file}`;
  if (!version) return undefined;
  const { stdout, stderr } = await runCommand(file, version.args, { timeoutMs: 20_000 });
  const is = parseVersion(stdout || stderr);
  if (is && isWithin(is, version.range)) return undefined;
  return `${is ? is.join('.') : 'a version that can’t be told'} at ${file}: ${describeRange(version.range)} is needed`;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Finds the programs that demo and tests start. The search takes the first of
 *   1. an environment variable: ETCD_BIN, ETCDCTL_BIN, ETCDUTL_BIN, KUBE_APISERVER_BIN,
 *      KUBE_CONTROLLER_MANAGER_BIN, KUBE_SCHEDULER_BIN, KUBELET_BIN, KUBECTL_BIN, KUBE_PROXY_BIN,
 *      COREDNS_BIN, CRANE_BIN, CNITOOL_BIN, GRPCURL_BIN, VERSITYGW_BIN, HELM_BIN, HELM3_BIN,
 *      CERT_MANAGER_BIN, PROCESS_TIMER_BIN, WHEREABOUTS_BIN (files), CNI_PLUGINS_DIR (the folder of
 *      the reference plugins);
 *   2. the folder KUBEBUILDER_ASSETS;  3. PATH;  4. the project's `.cache/bin`;
 * else it builds the program from the pinned Go modules in test/tools into `.cache/bin`. It skips a
 * version on PATH that is out of range, and logs that. Such a version in a variable is an error,
 * because the user chose it.
 */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { buildPrograms, isBuilt } from './build-program.ts';
import { programCatalog, pluginNames, type ProgramEntry, type ProgramName } from './program-catalog.ts';
import { runCommand } from '../processes/command.ts';
import { builtFolder } from '../paths.ts';
import { printProgress } from '../progress.ts';
import { describeRange, isWithin, parseVersion } from './version.ts';

const versionTimeoutMs = 20_000;

/** The inputs of the search; tests replace them. */
export interface SearchEnvironment {
  readonly env: NodeJS.ProcessEnv;
  readonly log: (line: string) => void;
  /** Whether `.cache/bin` has the program as test/tools pins it now. */
  readonly isBuilt: (name: ProgramName) => boolean;
  readonly build: (names: readonly ProgramName[]) => Promise<void>;
  readonly builtFolder: string;
}

/** A program, or the folder of the reference plugins. */
export type SearchTarget = ProgramName | 'plugins';

const found = new Map<SearchTarget, Promise<string>>();

function defaultEnvironment(signal?: AbortSignal): SearchEnvironment {
  return {
    env: process.env,
    log: printProgress,
    isBuilt: (name) => isBuilt(name, builtFolder),
    build: (names) => buildPrograms(names, { into: builtFolder, signal }),
    builtFolder,
  };
}

/**
 * Returns the path of a program. A process searches (or builds) it one time.
 * @throws Error when the program in the user's variable is missing or out of range, or the build
 * fails.
 */
export function findProgram(name: ProgramName, signal?: AbortSignal): Promise<string> {
  return searchOnce(name, () => searchProgram(name, defaultEnvironment(signal)));
}

/** Returns the folder of the reference plugins, all from one source. @throws as `findProgram`. */
export function findPlugins(signal?: AbortSignal): Promise<string> {
  return searchOnce('plugins', () => searchPlugins(defaultEnvironment(signal)));
}

/**
 * Finds programs ahead of their use; builds the missing ones together.
 * @throws as `findProgram`.
 */
export async function findPrograms(targets: readonly SearchTarget[], signal?: AbortSignal): Promise<void> {
  const search = searchAll(targets, defaultEnvironment(signal));
  await Promise.all(targets.map((target) => searchOnce(target, async () => pathOf(target, await search))));
}

function searchOnce(target: SearchTarget, search: () => Promise<string>): Promise<string> {
  let path = found.get(target);
  if (!path) {
    path = search();
    path.catch(() => found.delete(target));
    found.set(target, path);
  }
  return path;
}

/** Searches as `findProgram`, without its cache. */
export async function searchProgram(name: ProgramName, environment: SearchEnvironment): Promise<string> {
  return pathOf(name, await searchAll([name], environment));
}

/** Searches as `findPlugins`, without its cache. */
export async function searchPlugins(environment: SearchEnvironment): Promise<string> {
  return pathOf('plugins', await searchAll(['plugins'], environment));
}

type Paths = ReadonlyMap<SearchTarget, string>;

function pathOf(target: SearchTarget, paths: Paths): string {
  const path = paths.get(target);
  if (path === undefined) throw new Error(`no search for ${target}`);
  return path;
}

/** Searches as `findPrograms`, without its cache; returns the paths. */
export async function searchAll(targets: readonly SearchTarget[], environment: SearchEnvironment): Promise<Paths> {
  const paths = new Map<SearchTarget, string>();
  const missing: ProgramName[] = [];
  for (const target of targets) {
    const existing =
      target === 'plugins' ? findExistingPlugins(environment) : await findExistingProgram(target, environment);
    const ownPath = target === 'plugins' ? environment.builtFolder : join(environment.builtFolder, target);
    paths.set(target, existing ?? ownPath);
    if (existing === undefined) missing.push(...(target === 'plugins' ? pluginNames : [target]));
  }
  const unbuilt = missing.filter((name) => !environment.isBuilt(name));
  if (unbuilt.length > 0) await environment.build(unbuilt);
  return paths;
}

/** Finds a program that the user or the machine has; undefined when none is in range. */
async function findExistingProgram(name: ProgramName, { env, log }: SearchEnvironment): Promise<string | undefined> {
  const entry: ProgramEntry = programCatalog[name];
  const chosen = env[entry.variable];
  if (chosen) {
    const file = entry.variableKind === 'folder' ? join(chosen, name) : chosen;
    const problem = await findProblem(file, entry);
    if (problem) throw new Error(`${entry.variable}=${chosen}: ${problem}`);
    return file;
  }
  for (const folder of searchFolders(env)) {
    const file = join(folder, name);
    if (!isExecutable(file)) continue;
    const problem = await findProblem(file, entry);
    if (!problem) return file;
    log(`${name}: skipped ${problem}. This is no error: another ${name} is used`);
  }
  return undefined;
}

/** Finds a folder of the user or the machine with all plugins; undefined without such a folder. */
function findExistingPlugins({ env }: SearchEnvironment): string | undefined {
  const chosen = env['CNI_PLUGINS_DIR'];
  if (chosen) {
    const missing = pluginNames.filter((name) => !isExecutable(join(chosen, name)));
    if (missing.length > 0) throw new Error(`CNI_PLUGINS_DIR=${chosen}: no ${missing.join(', ')} in this folder`);
    return chosen;
  }
  return searchFolders(env).find((folder) => pluginNames.every((name) => isExecutable(join(folder, name))));
}

function searchFolders(env: NodeJS.ProcessEnv): string[] {
  const folders = [env['KUBEBUILDER_ASSETS'] ?? '', ...(env['PATH'] ?? '').split(delimiter)].filter(
    // Folders of links that the env file of `make up` adds to PATH lead to programs found earlier
    (folder) => existsSync(folder) && !dirname(folder).endsWith('/.cache/up'),
  );
  return [...new Set(folders.map((folder) => realpathSync(folder)))];
}

/** Returns why a program can't be used; undefined when it can. */
async function findProblem(file: string, { version }: ProgramEntry): Promise<string | undefined> {
  if (!isExecutable(file)) return `no program at ${file}`;
  if (!version) return undefined;
  const { stdout, stderr } = await runCommand(file, version.args, { timeoutMs: versionTimeoutMs });
  const actual = parseVersion(stdout || stderr);
  if (actual && isWithin(actual, version.range)) return undefined;
  return `${actual ? actual.join('.') : 'an unknown version'} at ${file}: ${describeRange(version.range)} is needed`;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** What `make up` remembers between its runs, in one file of its folder. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, isFree } from '../ports.ts';

/** A cluster that is not ours, and what we brought there. */
export interface UserCluster {
  readonly kubeconfig: string;
  /** URL of its API server: a kubeconfig may point elsewhere by the time we clean up. */
  readonly server: string;
  /** Names of the CustomResourceDefinitions that were not there before. */
  readonly installed: readonly string[];
}

export interface State {
  /** By server's name; kept, so that what is running and the env file stay right. */
  readonly ports: Record<string, number>;
  /** How many agents. */
  nodes: number;
  /** Whether the first agent listens where Kube-OVN's NADs look, too. */
  daemonSocket: boolean;
  /** Whether what runs speaks TLS. */
  tls: boolean;
  /** 'own', or the user's; undefined before the first run. The ledger belongs to one cluster. */
  cluster: 'own' | UserCluster | undefined;
}

export function readState(folder: string): State {
  const file = stateFile(folder);
  if (!existsSync(file)) return { ports: {}, nodes: 1, daemonSocket: false, tls: false, cluster: undefined };
  return { tls: false, ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<State>) } as State;
}

export function writeState(folder: string, state: State): void {
  writeWhole(stateFile(folder), `${JSON.stringify(state, undefined, 2)}\n`);
}

function stateFile(folder: string): string {
  return join(folder, 'state.json');
}

/** Writes a file in one step: a reader sees the old one or the new one. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/**
 * The port of a server: the one it had, as long as it has it or nobody took it.
 * @throws Error when somebody else took it while servers that know it are running.
 */
export async function portOf(state: State, name: string, running: readonly string[]): Promise<number> {
  const known = state.ports[name];
  if (known !== undefined) {
    if (running.includes(name) || (await becomesFree(known))) return known;
    if (running.length > 0)
      throw new Error(`port ${known} of ${name} was taken by another program: run \`make down\`, then \`make up\``);
  }
  const port = await freePort();
  state.ports[name] = port;
  return port;
}

/** A process that was just killed may hold its port a moment longer than it shows as alive. */
async function becomesFree(port: number): Promise<boolean> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    if (await isFree(port)) return true;
    await sleep(100);
  }
  return false;
}

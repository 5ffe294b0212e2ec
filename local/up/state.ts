/** The state of `make up` between its runs, in one file of its folder. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort, isFree } from '../../test/harness/processes/free-ports.ts';

/** A user's cluster, and what `make up` installed there. */
export interface UserCluster {
  readonly kubeconfig: string;
  /** URL of its API server, because the kubeconfig can change before `make down`. */
  readonly server: string;
  /** Names of the objects that `make up` installed, as `surveyCluster` returns them. */
  readonly installed: readonly string[];
}

export interface UpState {
  /** The ports by server name. Running servers and the env file keep their ports. */
  readonly ports: Record<string, number>;
  /** Number of agents. */
  nodes: number;
  /** Whether the first agent also serves the socket of Kube-OVN. */
  daemonSocket: boolean;
  /** Whether the running servers use TLS. */
  tls: boolean;
  /** The cluster of the ledger: 'own', the user's, or undefined before the first run. */
  cluster: 'own' | UserCluster | undefined;
}

export function readState(folder: string): UpState {
  const file = stateFile(folder);
  if (!existsSync(file)) return { ports: {}, nodes: 1, daemonSocket: false, tls: false, cluster: undefined };
  return { tls: false, ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<UpState>) } as UpState;
}

export function writeState(folder: string, state: UpState): void {
  writeFileAtomically(stateFile(folder), `${JSON.stringify(state, undefined, 2)}\n`);
}

function stateFile(folder: string): string {
  return join(folder, 'state.json');
}

/** Writes a file atomically: a reader sees the old or the new content. */
export function writeFileAtomically(file: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, text, { mode });
  renameSync(`${file}.new`, file);
}

/**
 * Returns the port of a server: its previous port if it is running or the port is free, otherwise a
 * new one.
 * @throws Error if another program took the port while servers that use it are running.
 */
export async function assignPort(state: UpState, name: string, running: readonly string[]): Promise<number> {
  const previous = state.ports[name];
  if (previous !== undefined) {
    if (running.includes(name) || (await becomesFree(previous))) return previous;
    if (running.length > 0)
      throw new Error(`port ${previous} of ${name} was taken by another program: run \`make down\`, then \`make up\``);
  }
  const port = await findFreePort();
  state.ports[name] = port;
  return port;
}

/** Waits until a port is free: a killed process can hold it for a moment. */
async function becomesFree(port: number): Promise<boolean> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    if (await isFree(port)) return true;
    await sleep(100);
  }
  return false;
}

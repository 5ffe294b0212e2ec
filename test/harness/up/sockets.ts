/** The agents' sockets. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isListenedOn } from '../probes.ts';
import { daemonSocket } from './network-configurations.ts';
import type { State } from './state.ts';

/** The kernel takes 108 bytes for a socket's path, the last of them zero. */
const longestPathBytes = 107;

export function agentName(number: number): string {
  return `node-agent-${number}`;
}

/** Where an agent listens, its own socket first. The first agent may serve Kube-OVN's, too. */
export function agentSockets(folder: string, state: State, number: number): [string, ...string[]] {
  const own = join(socketFolder(folder), `agent-${number}.sock`);
  return number === 1 && state.daemonSocket ? [own, daemonSocket] : [own];
}

/** The `up` folder itself, or one in /tmp when the checkout lies too deep for a socket's path. */
export function socketFolder(folder: string): string {
  if (Buffer.byteLength(join(folder, 'agent-00.sock')) <= longestPathBytes) return folder;
  const short = join(tmpdir(), `ipledger-up-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`);
  mkdirSync(short, { recursive: true, mode: 0o700 });
  return short;
}

/** Whether the first agent serves Kube-OVN's socket: as root, unless somebody else answers there. One that runs keeps what it has. */
export async function listensOnDaemonSocket(state: State, running: readonly string[]): Promise<boolean> {
  if (running.includes(agentName(1))) return state.daemonSocket;
  return process.getuid?.() === 0 && !(await isListenedOn(daemonSocket));
}

/** Paths of the agents' sockets. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isListenedOn } from '../../test/harness/processes/readiness-probes.ts';
import { daemonSocket } from './network-configurations.ts';
import type { UpState } from './state.ts';

/** The longest path of a socket: the kernel allows 108 bytes with the final zero. */
const maxPathBytes = 107;

export function agentName(number: number): string {
  return `node-agent-${number}`;
}

/**
 * The sockets of an agent, its own first. The first agent can also serve the socket of Kube-OVN.
 */
export function agentSockets(folder: string, state: UpState, number: number): [string, ...string[]] {
  const own = join(socketFolder(folder), `agent-${number}.sock`);
  return number === 1 && state.daemonSocket ? [own, daemonSocket] : [own];
}

/** The `up` folder, or a folder in /tmp if the path of the checkout is too long for a socket. */
export function socketFolder(folder: string): string {
  if (Buffer.byteLength(join(folder, 'agent-00.sock')) <= maxPathBytes) return folder;
  const short = join(tmpdir(), `ipledger-up-${createHash('sha256').update(folder).digest('hex').slice(0, 12)}`);
  mkdirSync(short, { recursive: true, mode: 0o700 });
  return short;
}

/**
 * Whether the first agent serves the socket of Kube-OVN: as root, unless another process listens
 * there. A running agent keeps its sockets.
 */
export async function shouldServeDaemonSocket(state: UpState, running: readonly string[]): Promise<boolean> {
  if (running.includes(agentName(1))) return state.daemonSocket;
  return process.getuid?.() === 0 && !(await isListenedOn(daemonSocket));
}

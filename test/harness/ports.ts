/**
 * Free ports on loopback that stay free. They are taken below the range from which the kernel picks ports for outgoing
 * connections: inside it, while a killed server is down, a client that tries to reconnect may be given that very port,
 * and even meet itself there.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const lowest = 10_000;
const attempts = 1_000;
const handedOut = new Set<number>();

/**
 * A port on which nobody listens at 127.0.0.1; not one that this process was given before.
 * @throws Error when none is found.
 */
export async function freePort(): Promise<number> {
  const end = firstEphemeralPort();
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * (end - lowest));
    if (handedOut.has(port) || !(await isFree(port))) continue;
    handedOut.add(port);
    return port;
  }
  throw new Error(`no free port found between ${lowest} and ${end} on 127.0.0.1`);
}

/** Whether one could listen on a port of 127.0.0.1 now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

function firstEphemeralPort(): number {
  const first = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]);
  return first > lowest + attempts ? first : 65_536;
}

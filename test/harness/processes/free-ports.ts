/**
 * Finds free ports on loopback, below the ephemeral range of the kernel. In that range, an outgoing
 * connection could take the port of a server while it is down. A client could even connect to
 * itself.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const minPort = 10_000;
const attempts = 1_000;

/**
 * Returns a port without a listener on 127.0.0.1. No other test process gets it until this process
 * ends.
 * @throws Error if none is found.
 */
export async function findFreePort(): Promise<number> {
  const end = firstEphemeralPort();
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = minPort + Math.floor(Math.random() * (end - minPort));
    if ((await isFree(port)) && (await reserve(port))) return port;
  }
  throw new Error(`no free port found between ${minPort} and ${end} on 127.0.0.1`);
}

/**
 * Reserves a port among test processes: only one abstract socket of a name can exist, and it ends
 * with this process.
 */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const reservation = createServer();
    reservation.once('error', () => resolve(false));
    reservation.listen(`\0ipledger-port-${port}`, () => resolve(true)).unref();
  });
}

/** Whether a port of 127.0.0.1 is free now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

function firstEphemeralPort(): number {
  const first = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]);
  return first > minPort + attempts ? first : 65_536;
}

/** What has to be done inside a Pod's network namespace. All of it is here, through `nsenter`, with a deadline. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { within } from '../../lib/deadline.ts';
import { IpledgerError } from '../../lib/errors.ts';
import { createGate } from './gate.ts';

// From the caller's asking, the time in line included.
const deadlineMs = 4_000;
const atOnce = 8;
const mostWaiting = 4_096;

const gate = createGate(atOnce, mostWaiting);

const run = promisify(execFile);

export interface Preparation {
  /** Path of the network namespace. */
  readonly netns: string;
  readonly interface: string;
  readonly cniType: string;
  /** The MAC that the link must have; '' to leave it as it is. */
  readonly mac: string;
  /** Whether it may have another one all the same, where it cannot be set. */
  readonly macMayDiffer: boolean;
  /** Whether the interface gets an IPv6 address. */
  readonly ipv6: boolean;
  /** Families whose default routes give way to those of this interface. */
  readonly replacedDefaults: ReadonlySet<4 | 6>;
}

export interface Sandbox {
  /** @throws IpledgerError saying what could not be done */
  prepare(wanted: Preparation, signal: AbortSignal): Promise<void>;
}

/** The sandboxes of this node; needs root, nsenter and ip. */
export const sandboxOfNode: Sandbox = {
  prepare: async (wanted, callerSignal) => {
    const optional = wanted.ipv6 || (wanted.mac !== '' && wanted.macMayDiffer);
    const needed = wanted.replacedDefaults.size > 0 || (wanted.mac !== '' && !wanted.macMayDiffer);
    if (!needed && !(optional && existsSync(wanted.netns))) return;
    const signal = within(deadlineMs, callerSignal);
    await gate(signal, () => prepare(wanted, signal));
  },
};

async function prepare(wanted: Preparation, signal: AbortSignal): Promise<void> {
  await refuseOwn(wanted.netns);
  if (wanted.mac !== '') await setMac(wanted, signal);
  if (wanted.ipv6) await letIpv6(wanted, signal);
  for (const family of wanted.replacedDefaults)
    await ip(wanted.netns, [`-${family}`, 'route', 'flush', 'exact', 'default'], signal);
}

/** A runtime that names the node's own namespace must not cost the node its routes. */
async function refuseOwn(netns: string): Promise<void> {
  const named = await stat(netns).catch((error: unknown) => {
    throw new IpledgerError('SANDBOX_FAILED', `network namespace ${JSON.stringify(netns)}: ${String(error)}`);
  });
  const own = await stat('/proc/self/ns/net');
  if (named.dev === own.dev && named.ino === own.ino)
    throw new IpledgerError('SANDBOX_FAILED', `network namespace ${netns} is the node's own`);
}

/** The link is there before IPAM is asked, and comes up after. What was set is read back. */
async function setMac(wanted: Preparation, signal: AbortSignal): Promise<void> {
  const { netns, interface: name, cniType, mac, macMayDiffer } = wanted;
  if (cniType === 'ipvlan' && macMayDiffer) return;
  if (cniType === 'ipvlan')
    throw new IpledgerError(
      'SANDBOX_FAILED',
      `MAC ${mac} for ${name}: ipvlan links share their master's MAC; use macvlan`,
    );
  const links = await ip(netns, ['-json', 'link', 'show'], signal);
  const macOf = (listed: string) =>
    (JSON.parse(listed) as { ifname: string; address?: string }[]).find(({ ifname }) => ifname === name)?.address;
  const born = macOf(links);
  if (born === undefined && macMayDiffer) return;
  if (born === undefined)
    throw new IpledgerError(
      'SANDBOX_FAILED',
      `MAC ${mac} for ${name}: there is no such link in ${netns} yet; the plugin that makes it asks for its address first`,
    );
  if (same(born, mac)) return;
  await ip(netns, ['link', 'set', 'dev', name, 'address', mac], signal);
  const now = macOf(await ip(netns, ['-json', 'link', 'show'], signal));
  if (now === undefined || !same(now, mac))
    throw new IpledgerError('SANDBOX_FAILED', `MAC ${mac} for ${name} was set, but the link has ${now ?? 'gone'}`);
}

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/**
 * A namespace may have IPv6 switched off, and then takes no address. And a router on the wire must give the interface neither
 * an address nor a route: it has what the ledger says. Detection of duplicates stays as it is. A link that is not there yet
 * begins with the namespace's defaults. `/proc/sys/net` shows whoever looks the namespace that he is in.
 */
async function letIpv6({ netns, interface: name }: Preparation, signal: AbortSignal): Promise<void> {
  const script = `
    cd /proc/sys/net/ipv6/conf || exit
    [ -d "$1" ] || set -- default
    echo 0 >lo/disable_ipv6 && echo 0 >"$1/disable_ipv6" && echo 0 >"$1/accept_ra"`;
  await inside(netns, ['sh', '-c', script, 'sh', name], signal, `IPv6 sysctls of ${name}`);
}

const ip = (netns: string, args: readonly string[], signal: AbortSignal): Promise<string> =>
  inside(netns, ['ip', ...args], signal);

/** @param what it is called in an error */
async function inside(
  netns: string,
  command: readonly string[],
  signal: AbortSignal,
  what = command.join(' '),
): Promise<string> {
  try {
    const { stdout } = await run('nsenter', [`--net=${netns}`, ...command], {
      signal,
      killSignal: 'SIGKILL',
      maxBuffer: 1 << 20,
    });
    return stdout;
  } catch (error) {
    const stderr = (error as { stderr?: string }).stderr?.trim() || String(error);
    const said = signal.aborted ? `given up (the deadline is ${deadlineMs} ms)` : stderr;
    throw new IpledgerError('SANDBOX_FAILED', `in ${netns}: ${what}: ${said}`, { cause: error });
  }
}

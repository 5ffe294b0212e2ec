/** Prepares a Pod's network namespace (MAC, IPv6, default routes) with `nsenter`. */
import { existsSync } from 'node:fs';
import { timeoutSignal } from '../../../lib/process/abortable.ts';
import { IpledgerError } from '../../../lib/errors.ts';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import { rejectHostNamespace, runCommand } from '../network-namespace.ts';

// The time for a preparation, including the wait in the semaphore's queue.
const deadlineMs = 4_000;
const concurrentPreparations = 8;
const maxWaiting = 4_096;

const semaphore = createSemaphore(concurrentPreparations, maxWaiting);

export interface SandboxPreparation {
  /** Path of the network namespace. */
  readonly netns: string;
  readonly interface: string;
  readonly cniType: string;
  /** The MAC for the link; '' keeps the link's MAC. */
  readonly mac: string;
  /** Whether the link may keep another MAC if this one cannot be set. */
  readonly macMayDiffer: boolean;
  /** Whether the interface gets an IPv6 address. */
  readonly ipv6: boolean;
  /** Families whose default routes are removed, because this interface gets its own. */
  readonly replacedDefaults: ReadonlySet<4 | 6>;
}

export interface Sandbox {
  /** @throws IpledgerError SANDBOX_FAILED */
  prepare(preparation: SandboxPreparation, signal: AbortSignal): Promise<void>;
}

/** The folder of the sysctls of the caller's network namespace. */
export const defaultSysctls = '/proc/sys/net';

/**
 * Prepares the sandboxes of this node. Needs root, `nsenter`, `ip` and `sh`.
 * @param sysctls the node's /proc/sys/net, in another mount: a container's /proc/sys is read-only
 */
export const createNodeSandbox = (sysctls: string): Sandbox => ({
  prepare: async (preparation, callerSignal) => {
    const { ipv6, mac, macMayDiffer, replacedDefaults } = preparation;
    const isRequired = replacedDefaults.size > 0 || (mac !== '' && !macMayDiffer);
    const isOptional = ipv6 || (mac !== '' && macMayDiffer);
    if (!isRequired && !(isOptional && existsSync(preparation.netns))) return;
    const signal = timeoutSignal(deadlineMs, callerSignal);
    await semaphore(signal, () => prepare(preparation, sysctls, signal));
  },
});

async function prepare(preparation: SandboxPreparation, sysctls: string, signal: AbortSignal): Promise<void> {
  await rejectHostNamespace(preparation.netns);
  if (preparation.mac !== '') await setMac(preparation, signal);
  if (preparation.ipv6) await enableIpv6(preparation, sysctls, signal);
  for (const family of preparation.replacedDefaults)
    await ip(preparation.netns, [`-${family}`, 'route', 'flush', 'exact', 'default'], signal);
}

/** Sets the MAC of the link, which the plugin has made and is down, and reads it back. */
async function setMac(preparation: SandboxPreparation, signal: AbortSignal): Promise<void> {
  const { netns, interface: name, cniType, mac, macMayDiffer } = preparation;
  if (cniType === 'ipvlan' && macMayDiffer) return;
  if (cniType === 'ipvlan')
    throw new IpledgerError(
      'SANDBOX_FAILED',
      `MAC ${mac} for ${name}: ipvlan links share their master's MAC; use macvlan`,
    );
  const readMac = async (): Promise<string | undefined> => {
    const links = await ip(netns, ['-json', 'link', 'show'], signal);
    return (JSON.parse(links) as { ifname: string; address?: string }[]).find(({ ifname }) => ifname === name)?.address;
  };
  const before = await readMac();
  if (before === undefined && macMayDiffer) return;
  if (before === undefined)
    throw new IpledgerError(
      'SANDBOX_FAILED',
      `MAC ${mac} for ${name}: there is no such link in ${netns}: use a plugin that makes the link before it runs IPAM, such as macvlan`,
    );
  if (isSameMac(before, mac)) return;
  await ip(netns, ['link', 'set', 'dev', name, 'address', mac], signal);
  const after = await readMac();
  if (after === undefined || !isSameMac(after, mac))
    throw new IpledgerError(
      'SANDBOX_FAILED',
      `MAC ${mac} for ${name} was set, but the link ${after === undefined ? 'is absent' : `has ${after}`}`,
    );
}

const isSameMac = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/**
 * Enables IPv6, which a namespace may have disabled, and disables router advertisements: the
 * interface has only the ledger's address and routes. Keeps duplicate address detection as it is.
 * Also sets the namespace's defaults, for a link that is made later. Any mount of `/proc/sys/net`
 * shows the namespace of the process.
 */
async function enableIpv6(
  { netns, interface: name }: SandboxPreparation,
  sysctls: string,
  signal: AbortSignal,
): Promise<void> {
  const script = `
    cd "$2/ipv6/conf" || exit
    [ -d "$1" ] || set -- default
    echo 0 >lo/disable_ipv6 && echo 0 >"$1/disable_ipv6" && echo 0 >"$1/accept_ra"`;
  await runInNamespace(netns, ['sh', '-c', script, 'sh', name, sysctls], signal, `IPv6 sysctls of ${name}`);
}

const ip = (netns: string, args: readonly string[], signal: AbortSignal): Promise<string> =>
  runInNamespace(netns, ['ip', ...args], signal);

/** @param label the command's name in an error */
async function runInNamespace(
  netns: string,
  command: readonly string[],
  signal: AbortSignal,
  label = command.join(' '),
): Promise<string> {
  try {
    return await runCommand('nsenter', [`--net=${netns}`, ...command], { signal });
  } catch (error) {
    const reason = signal.aborted
      ? `aborted (the deadline is ${deadlineMs} ms)`
      : error instanceof Error
        ? error.message
        : String(error);
    throw new IpledgerError('SANDBOX_FAILED', `in ${netns}: ${label}: ${reason}`, { cause: error });
  }
}

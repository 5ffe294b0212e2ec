/**
 * Makes and removes the links of NICs: a veth pair, and the configuration of its end in the
 * sandbox. Each function starts only one process, because Node.js forks slowly. Needs root, `ip`,
 * `nsenter`, `sh`, `sleep` and, for switching in userspace, `ethtool`.
 */
import { errorMessage } from '../../../lib/errors.ts';
import { CommandError, rejectHostNamespace, runCommand } from '../network-namespace.ts';
import { createSemaphore } from '../../../lib/process/semaphore.ts';
import { DataPathError } from './data-path-error.ts';
import { readLinkNames } from './host-link.ts';
import { isIpv6Cidr, type NicPlan } from './nic-plan.ts';

const concurrentCommands = 32;
const maxWaiting = 4_096;

export interface PodLinks {
  /** Makes the veth pair. @throws DataPathError veth; IpledgerError SANDBOX_FAILED */
  create(plan: NicPlan, signal: AbortSignal): Promise<void>;
  /**
   * Sets up the end in the sandbox: address, routes, announcement, and the check of the gateways.
   * @param isUserspace whether OVS switches in userspace: it does not complete the checksums that
   * the kernel leaves open
   * @throws DataPathError inside, gateway
   */
  configure(plan: NicPlan, isUserspace: boolean, signal: AbortSignal): Promise<void>;
  /**
   * Announces the addresses of a configured NIC again (gratuitous ARP, unsolicited neighbor
   * advertisement).
   * @throws DataPathError inside, also if the NIC has another MAC now
   */
  announce(plan: NicPlan, signal: AbortSignal): Promise<void>;
  /** Removes the pair by its end on the node, if it exists. @throws DataPathError veth */
  remove(hostLink: string, signal: AbortSignal): Promise<void>;
}

/** @param sysctls the node's /proc/sys/net, mounted writable in the container */
export function createPodLinks(sysctls: string): PodLinks {
  const semaphore = createSemaphore(concurrentCommands, maxWaiting);
  /** Runs a script with its arguments and input in the sandbox. */
  async function runInside(
    plan: NicPlan,
    [script, ...scriptArgs]: readonly [string, ...string[]],
    input: string,
    signal: AbortSignal,
  ): Promise<void> {
    const args = [`--net=${plan.netns}`, 'sh', '-c', script, 'sh', ...scriptArgs];
    await semaphore(signal, () => runCommand('nsenter', args, { input, signal })).catch((error: unknown) => {
      throw insideError(plan, error, signal);
    });
  }
  return {
    async create(plan, signal) {
      await rejectHostNamespace(plan.netns);
      const isPresent = (await readLinkNames()).has(plan.hostLink);
      const input = createBatch(plan, isPresent);
      await semaphore(signal, () => runCommand('ip', ['-batch', '-'], { input, signal })).catch((error: unknown) => {
        throw new DataPathError('veth', `making link ${plan.hostLink} failed: ${firstLine(error)}`, { cause: error });
      });
    },
    configure: (plan, isUserspace, signal) =>
      runInside(plan, [insideScript, ...insideArguments(plan, sysctls, isUserspace)], insideBatch(plan), signal),
    announce: (plan, signal) => runInside(plan, [announceScript, plan.interface, plan.mac], '', signal),
    async remove(hostLink, signal) {
      if (!(await readLinkNames()).has(hostLink)) return;
      const args = ['link', 'delete', 'dev', hostLink];
      await semaphore(signal, () => runCommand('ip', args, { signal })).catch(async (error: unknown) => {
        // Accepts a link that disappeared with its sandbox in the meantime.
        if (!(await readLinkNames()).has(hostLink)) return;
        throw new DataPathError('veth', `removing link ${hostLink} failed: ${firstLine(error)}`, { cause: error });
      });
    },
  };
}

const firstLine = (error: unknown): string => errorMessage(error).split('\n', 1)[0] ?? '';

/** Returns `ip -batch` lines that set the node's end up first, so the other is announced. */
export function createBatch({ hostLink, interface: name, mac, mtu, netns }: NicPlan, isPresent: boolean): string {
  const lines = [
    `link add name ${hostLink} mtu ${mtu} type veth peer name ${name} mtu ${mtu} address ${mac} netns ${netns}`,
    `link set dev ${hostLink} up`,
  ];
  return batch(isPresent ? [`link delete dev ${hostLink}`, ...lines] : lines);
}

/**
 * Returns lines of `ip -batch` in the sandbox; the last lines make the kernel resolve the gateways.
 * IPv6 needs no duplicate address detection, because the ledger keeps addresses unique. The
 * link-local address is set, because the kernel sends no neighbor solicitation without it and would
 * make it late.
 */
export function insideBatch(plan: NicPlan): string {
  const { interface: name, mac, routes, replacedDefaults, gateways } = plan;
  const addresses = plan.addresses.some(isIpv6Cidr) ? [`${linkLocalOf(mac)}/64`, ...plan.addresses] : plan.addresses;
  return batch([
    ...addresses.map((address) => `addr replace ${address} dev ${name}${isIpv6Cidr(address) ? ' nodad' : ''}`),
    `link set dev ${name} up`,
    ...replacedDefaults.map((family) => `route flush exact ${family === 4 ? '0.0.0.0/0' : '::/0'}`),
    ...routes.map(({ dst, gw }) => `route replace ${dst} ${gw === '' ? '' : `via ${gw} `}dev ${name}`),
    ...gateways.map((gateway) => `neigh replace ${gateway} dev ${name} use`),
  ]);
}

/** The link-local address that the kernel derives from a MAC (RFC 4291, appendix A). */
export function linkLocalOf(mac: string): string {
  const [first = '', second, third, fourth, fifth, sixth] = mac.split(':');
  const inverted = (Number.parseInt(first, 16) ^ 2).toString(16);
  return `fe80::${inverted}${second}:${third}ff:fe${fourth}:${fifth}${sixth}`;
}

const batch = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/**
 * The script that configures the sandbox. With arp_notify and ndisc_notify the kernel announces the
 * addresses (gratuitous ARP, unsolicited neighbor advertisement) when the link comes up. It
 * resolves a neighbor with `use` by ARP or neighbor solicitation. A switch may lose the first
 * packet of a new port, and the kernel would repeat it after 1 s. So the script repeats the
 * resolution after 0.3 s, and then every second. It writes its progress to stdout.
 */
const insideScript = `
  name=$1 sysctls=$2 checksums=$3 ipv6=$4 check=$5
  shift 5
  [ "$checksums" = kernel ] || ethtool -K "$name" tx off >/dev/null || exit
  cd "$sysctls" || exit
  if [ "$ipv6" = yes ]; then
    for folder in lo "$name"; do echo 0 >"ipv6/conf/$folder/disable_ipv6" || exit; done
    for key in accept_ra accept_dad; do echo 0 >"ipv6/conf/$name/$key" || exit; done
    echo 1 >"ipv6/conf/$name/ndisc_notify" || exit
  fi
  echo 1 >"ipv4/conf/$name/arp_notify" || exit
  ip -batch - || exit
  echo configured
  [ "$check" = required ] || exit 0
  for gateway; do
    echo "$gateway"
    polls=0
    until case $(ip neigh show to "$gateway" dev "$name") in *lladdr*) true ;; *) false ;; esac; do
      polls=$((polls + 1))
      case $polls in 1) sleep 0.01 ;; 2) sleep 0.05 ;; *) sleep 0.2 ;; esac
      [ $((polls % 5)) = 3 ] || continue
      ip neigh delete "$gateway" dev "$name" 2>/dev/null
      ip neigh replace "$gateway" dev "$name" use
    done
  done`;

/**
 * The script that announces again: with arp_notify and ndisc_notify the kernel also announces when
 * a MAC is set, even to the same value. The NIC may be of a later ADD, or its workload may have
 * changed the MAC. Then the script changes nothing.
 */
const announceScript = `
  case $(ip link show dev "$1") in
    *" $2 "*) ip link set dev "$1" address "$2" ;;
    *) echo "$1 has another MAC than $2" >&2; exit 1 ;;
  esac`;

const insideArguments = (plan: NicPlan, sysctls: string, isUserspace: boolean): string[] => [
  plan.interface,
  sysctls,
  isUserspace ? 'userspace' : 'kernel',
  plan.addresses.some(isIpv6Cidr) ? 'yes' : 'no',
  plan.requiresGateway ? 'required' : 'optional',
  ...plan.gateways,
];

/** Returns the error of the script, which depends on its progress. */
function insideError(plan: NicPlan, error: unknown, signal: AbortSignal): DataPathError {
  const progress = error instanceof CommandError ? error.stdout.trim().split('\n') : [];
  if (signal.aborted && progress[0] === 'configured')
    return new DataPathError(
      'gateway',
      `gateway ${progress.at(-1) ?? ''} does not answer ARP or neighbor discovery on ${plan.interface}. Start it, or set disableGatewayCheck in the Subnet`,
      { cause: error },
    );
  const reason = signal.aborted ? 'the time is over' : firstLine(error);
  return new DataPathError('inside', `setting up ${plan.interface} in ${plan.netns} failed: ${reason}`, {
    cause: error,
  });
}

/** Compares parts of the ledger with each other, and bindings and Pods with Nodes and agents. */
import { BlockList, isIPv4 } from 'node:net';
import { cidrContains } from '../../lib/net/ip.ts';
import { virtualMachineKind } from '../../lib/kubernetes/pod-identity.ts';
import { isOvnProvider } from '../../lib/kubernetes/served-network.ts';
import type { Allocation, SandboxBinding, Subnet, Usage } from '../../proto/generated/ipledger.ts';
import type { LedgerState, CheckInput } from './check-input.ts';
import { formatAllocation, lostNodeRemedy } from '../output/format.ts';
import { describeFreeze } from '../../lib/ledger-text/freeze-text.ts';
import { formatPodName } from '../../lib/ledger-text/texts.ts';
import type { Disagreement } from './disagreement.ts';
import { formatShellCommand } from '../shell-command.ts';
import { formatCount } from '../output/answer.ts';

/** A frozen ledger was restored from a backup and lacks events. */
export function compareFreeze({ ledger: { freeze } }: CheckInput): Disagreement[] {
  if (!freeze) return [];
  const what = `etcd was restored from a backup: ${describeFreeze(freeze)}`;
  const remedy = formatShellCommand(
    ['ipledger', 'recover'],
    'it shows the differences; before that delete and change nothing manually, because it needs the Pods and IP objects',
  );
  return [{ kind: 'frozen', where: 'the ledger', what, remedy }];
}

/** Reports why the ledger cannot be written. */
export function findObstacle({ ledger: { obstacle } }: CheckInput): Disagreement[] {
  if (!obstacle) return [];
  const remedy = formatShellCommand(['ipledger', 'status'], 'it shows since when; repair that first');
  return [{ kind: 'not writable', where: 'the ledger', what: obstacle.message, remedy }];
}

/** No address, MAC or attachment has two allocations. On one network that holds across subnets. */
export function compareHolders({ ledger }: CheckInput): Disagreement[] {
  const holders = new Map<string, Allocation>();
  return ledger.allocations.flatMap((allocation) => {
    const others = exclusiveKeys(allocation).flatMap((key) => {
      const other = holders.get(key);
      holders.set(key, allocation);
      return other ? [{ key, other }] : [];
    });
    // A line for each pair, which may share an address, its network and a MAC
    return [...new Map(others.toReversed().map((each) => [each.other.seq, each])).values()].map(
      ({ key, other }): Disagreement => {
        const [one, two] = [other, allocation].map((each) => describeHolder(each, other.subnet !== allocation.subnet));
        const remedy = formatShellCommand(
          ['etcdctl', 'snapshot', 'save', 'allocated-twice.db'],
          'this is a bug: stop one of the Pods, keep this snapshot, and report it',
        );
        return { kind: 'allocated twice', where: key, what: `${one} and ${two} both hold it`, remedy };
      },
    );
  });
}

const describeHolder = ({ attachment, subnet, seq }: Allocation, namesSubnet: boolean): string =>
  `Pod ${formatPodName(attachment)} (${namesSubnet ? `subnet ${subnet}, ` : ''}event ${seq})`;

function exclusiveKeys({ attachment, subnet, network, addresses, mac }: Allocation): string[] {
  // An older allocator sends no network; there a MAC is unique in its subnet
  const where = network === '' ? `in subnet ${subnet}` : `on network ${network}`;
  const keys = addresses.flatMap(({ address }) => [
    `${address} of subnet ${subnet}`,
    ...(network === '' ? [] : [`${address} ${where}`]),
  ]);
  keys.push(`attachment ${attachment?.ordinal} to ${attachment?.provider} of Pod ${formatPodName(attachment)}`);
  if (mac !== '') keys.push(`MAC ${mac} ${where}`);
  return keys;
}

/** The usage of subnets and pools equals the number of their allocated addresses. */
export function compareCounts({ ledger: { allocations, subnets, pools } }: CheckInput): Disagreement[] {
  const addressesIn = findAddressesInUse(allocations, subnets);
  return [
    ...subnets.flatMap(({ name, spec, usage }) => {
      const isExcluded = createRangeMatcher(spec?.excludeIps);
      // A Pod can request an excluded address by name; these do not count
      return compareUsage(
        `subnet ${name}`,
        usage,
        addressesIn(name).filter((address) => !isExcluded(address)),
      );
    }),
    // A pool counts them, because it has the addresses that it names
    ...pools.flatMap(({ name, spec, usage }) =>
      compareUsage(`ippool ${name}`, usage, addressesIn(spec?.subnet).filter(createRangeMatcher(spec?.ips))),
    ),
  ];
}

/**
 * The addresses that count as in use in a subnet: those of its own allocations, and those in its
 * range that other subnets of its network allocated. An older allocator sends no network, and
 * counts a subnet's own allocations only.
 */
export function findAddressesInUse(
  allocations: readonly Allocation[],
  subnets: readonly Subnet[],
): (subnet?: string) => string[] {
  const networks = new Map(subnets.map((each) => [each.name, networkOf(each)]));
  const rangeOf = new Map(subnets.map((each) => [each.name, createCidrMatcher(each)]));
  const addressesOf = ({ addresses }: Allocation): string[] => addresses.map(({ address }) => address);
  const bySubnet = Map.groupBy(allocations, ({ subnet }) => subnet);
  const onNetworks = allocations.flatMap((each) =>
    each.network === ''
      ? []
      : [...new Set([each.network, networks.get(each.subnet) ?? ''])].map((network) => [network, each] as const),
  );
  const byNetwork = Map.groupBy(onNetworks, ([network]) => network);
  return (subnet = '') => {
    const isInRange = rangeOf.get(subnet) ?? (() => false);
    const others = (byNetwork.get(networks.get(subnet) ?? '') ?? []).flatMap(([, each]) =>
      each.subnet === subnet ? [] : each,
    );
    return [
      ...new Set([
        ...(bySubnet.get(subnet) ?? []).flatMap(addressesOf),
        ...others.flatMap(addressesOf).filter(isInRange),
      ]),
    ];
  };
}

function compareUsage(where: string, usage: readonly Usage[], held: readonly string[]): Disagreement[] {
  return usage.flatMap(({ family, inUse, reserved }): Disagreement[] => {
    const count = held.filter((address) => isIPv4(address) === (family === 4)).length;
    if (count + Number(reserved) === Number(inUse)) return [];
    const what = `the ledger counts ${inUse} IPv${family} addresses in use, but ${count} are allocated and ${reserved} reserved`;
    const remedy = formatShellCommand(['ipledger', 'verify'], 'then restart the allocator, and report it');
    return [{ kind: 'count', where, what, remedy }];
  });
}

/** Returns a function that tests whether an address is in the range of a subnet. */
const createCidrMatcher =
  ({ spec }: Subnet) =>
  (address: string): boolean =>
    (spec?.cidrBlock ?? '').split(',').some((cidr) => cidrContains(cidr, address));

/** The network of a subnet: its provider or, for Kube-OVN's own type, the subnet itself. */
const networkOf = ({ name, spec }: Subnet): string => {
  const provider = spec?.provider ?? '';
  return isOvnProvider(provider) ? `switch/${name}` : provider;
};

/** Matches a list of addresses and ranges in the ledger's canonical form. */
function createRangeMatcher(ranges: readonly string[] = []): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [first = '', last = first] = range.split('..');
    list.addRange(first, last, isIPv4(first) ? 'ipv4' : 'ipv6');
  }
  return (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/**
 * Bindings of released addresses, which are not allocated again. That is correct until CNI DEL,
 * reboot or deletion of the node, or the subnet's binding timeout.
 */
export function findBindingsWithoutAllocation({ allocations, bindings }: LedgerState): SandboxBinding[] {
  const allocated = new Set(allocations.flatMap((each) => addressKeys(each)));
  return bindings.filter(
    ({ subnet, addresses }) => !addresses.some((address) => allocated.has(`${subnet}/${address}`)),
  );
}

/**
 * An address is bound on one node only, except during the migration of a virtual machine. A Bind on
 * a second node waits while the first may answer; this finds Binds after the binding timeout, and
 * those of earlier versions.
 */
export function compareBoundNodes({ ledger: { allocations, bindings } }: CheckInput): Disagreement[] {
  const ofMachines = allocations.filter(({ owner }) => owner?.kind === virtualMachineKind);
  const machines = new Set(ofMachines.map(({ seq }) => seq));
  const addressesOfMachines = new Set(ofMachines.flatMap((each) => addressKeys(each)));
  // An older allocator sends no allocation: compare the address
  const isOfMachine = ({ allocationSeq, subnet, addresses }: SandboxBinding): boolean =>
    allocationSeq === 0
      ? addresses.some((address) => addressesOfMachines.has(`${subnet}/${address}`))
      : machines.has(allocationSeq);
  const byAddress = new Map<string, Map<string, SandboxBinding>>();
  for (const bound of bindings.filter((each) => !isOfMachine(each)))
    for (const address of bound.addresses) {
      const where = `${address} of subnet ${bound.subnet}`;
      const nodes = byAddress.get(where) ?? new Map<string, SandboxBinding>();
      byAddress.set(where, nodes.set(bound.binding?.node ?? '', bound));
    }
  return [...byAddress].flatMap(([where, nodes]): Disagreement[] => {
    if (nodes.size < 2) return [];
    const [oldest] = [...nodes.values()].sort((one, other) => boundAt(one) - boundAt(other));
    const containers = [...nodes].map(([node, { binding }]) => `container ${binding?.containerId} on node ${node}`);
    const node = oldest?.binding?.node ?? '';
    const remedy = formatShellCommand(
      ['kubectl', 'get', 'node', node, '-o', 'wide'],
      `remove the container there: CNI DEL ends the binding. If the machine is off for good, delete the Node`,
    );
    return [{ kind: 'bound on two nodes', where, what: `${containers.join(' and ')} both have it`, remedy }];
  });
}

/** Returns "subnet/address" of each address that an allocation has. */
const addressKeys = ({ subnet, addresses }: Allocation): string[] =>
  addresses.map(({ address }) => `${subnet}/${address}`);

const boundAt = ({ binding }: SandboxBinding): number => Date.parse(binding?.at ?? '') || 0;

/** A binding of a released address must end when its Node is deleted. */
export function compareNodes({ ledger, cluster }: CheckInput): Disagreement[] {
  // A transferred address belongs to the next Pod, which waits for the container of its predecessor
  const current = new Set(ledger.allocations.map(({ seq }) => seq));
  // An older allocator sends no allocation
  const unallocated = new Set(findBindingsWithoutAllocation(ledger));
  const leftBehind = ledger.bindings.filter((each) =>
    each.allocationSeq === 0 ? unallocated.has(each) : !current.has(each.allocationSeq),
  );
  return leftBehind.flatMap(({ attachment, subnet, addresses, binding }): Disagreement[] => {
    const { containerId = '', node = '' } = binding ?? {};
    if (cluster.nodes.has(node)) return [];
    const what = `held for container ${containerId} of Pod ${formatPodName(attachment)} on node ${node}, and there is no such Node`;
    const remedy = formatShellCommand(
      ['kubectl', 'get', 'nodes'],
      `if the machine of ${node} is off for good, this ends its bindings: ipledger unbind ${node}`,
    );
    return [{ kind: 'Node deleted', where: `${addresses.join(',')} of subnet ${subnet}`, what, remedy }];
  });
}

/** Finds addresses whose key another etcd client changed. The operator must repair the key. */
export function compareFencedAddresses({ ledger }: CheckInput): Disagreement[] {
  const byAddress = new Map(
    ledger.allocations.flatMap((allocation) =>
      allocation.addresses.map(({ address }) => [`${allocation.subnet}/${address}`, allocation] as const),
    ),
  );
  return ledger.subnets.flatMap(({ name, fenced }) =>
    fenced.map((address): Disagreement => {
      const holder = byAddress.get(`${name}/${address}`);
      const owner = holder
        ? `; in the ledger Pod ${formatPodName(holder.attachment)} holds ${formatAllocation(holder)}`
        : '';
      const what = `another etcd client changed its key, so the allocator has fenced it${owner}`;
      const remedy = formatShellCommand(
        ['ipledger', 'check', '--keys'],
        'it prints the command that restores the key; the allocators then serve the address again',
      );
      return { kind: 'fenced', where: `${address} of subnet ${name}`, what, remedy };
    }),
  );
}

/**
 * Each Node that has an agent's Pod, or Pods with addresses, has an agent that is ready. A Node
 * that the DaemonSet leaves out on purpose has no such Pods. Agents that do not run as Pods are
 * unknown to the API, and are not compared.
 */
export function compareAgents({ ledger, cluster }: CheckInput): Disagreement[] {
  const agents = cluster.pods.filter(({ agent }) => agent !== undefined);
  if (agents.length === 0) return [];
  const byNode = Map.groupBy(agents, ({ node }) => node);
  const holders = new Set(ledger.allocations.map(({ podUid }) => podUid));
  const served = cluster.pods.filter(({ identity, node }) => node !== '' && holders.has(identity));
  const podsOn = Map.groupBy(served, ({ node }) => node);
  return [...new Set([...byNode.keys(), ...podsOn.keys()])].flatMap((node): Disagreement[] => {
    const own = byNode.get(node) ?? [];
    if (!cluster.nodes.has(node) || own.some(({ agent, isTerminating }) => agent === 'ready' && !isTerminating))
      return [];
    const pods = formatCount(podsOn.get(node)?.length ?? 0, 'Pod');
    const state = own.length > 0 ? 'its node agent is not ready' : 'it has no node agent';
    const failure = cluster.nodeFailures.get(node);
    const what = `${failure === undefined ? '' : `the Node ${failure}; `}${state}: no CNI ADD succeeds there, and no CNI DEL arrives; ${pods} with addresses`;
    return [
      { kind: 'no agent', where: `Node ${node}`, what, remedy: remedyFor(node, failure, agents[0]?.namespace ?? '') },
    ];
  });
}

function remedyFor(node: string, failure: string | undefined, namespace: string): string {
  if (failure !== undefined) return formatShellCommand(['kubectl', 'describe', 'node', node], lostNodeRemedy(node));
  const selector = [
    '-l',
    'app.kubernetes.io/component=node-agent',
    '-o',
    'wide',
    '--field-selector',
    `spec.nodeName=${node}`,
  ];
  return formatShellCommand(
    ['kubectl', 'get', 'pods', '-n', namespace, ...selector],
    'without a Pod, look for a taint of the Node that the DaemonSet does not tolerate; with one, describe it and read its log',
  );
}

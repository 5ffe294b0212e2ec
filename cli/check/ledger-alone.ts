/** What the ledger says, against itself and against who may still answer. */
import { BlockList, isIPv4 } from 'node:net';
import { cidrHas } from '../../lib/ip.ts';
import { machineKind } from '../../lib/pod-identity.ts';
import { isOvnProvider } from '../../lib/provider.ts';
import type { Allocation, SandboxBinding, Subnet, Usage } from '../../proto/ipledger.ts';
import type { Disagreement, LedgerPicture, Picture } from './picture.ts';
import { command, podOf, restartWatcher, said } from './say.ts';

/** A ledger that was rewound says less than what is true. */
export function compareFreeze({ ledger: { freeze } }: Picture): Disagreement[] {
  if (!freeze) return [];
  const what = `etcd was put back to an older state: ${freeze.by} remembers event ${freeze.known?.seq} of epoch ${freeze.known?.epoch}, which is not in it`;
  const remedy = command(
    ['ipledger', 'recover'],
    'it says what differs; delete and change nothing by hand before: it is brought back from what Pods and IP objects show',
  );
  return [{ kind: 'frozen', where: 'the ledger', what, remedy }];
}

/** No address, no MAC and no attachment is given twice; nor is an address on one network, whatever the subnet. */
export function compareHolders({ ledger }: Picture): Disagreement[] {
  const holders = new Map<string, Allocation>();
  return ledger.allocations.flatMap((allocation) => {
    const others = thingsHeld(allocation).flatMap((thing) => {
      const other = holders.get(thing);
      holders.set(thing, allocation);
      return other ? [{ thing, other }] : [];
    });
    // One line for each two, though they may share an address, its network and a MAC.
    return [...new Map(others.toReversed().map((each) => [each.other.seq, each])).values()].map(
      ({ thing, other }): Disagreement => {
        const [one, two] = [other, allocation].map((each) => holderOf(each, other.subnet !== allocation.subnet));
        const remedy = command(
          ['etcdctl', 'snapshot', 'save', 'held-twice.db'],
          'this must never happen: stop one of them, keep this copy, and report it',
        );
        return { kind: 'held twice', where: thing, what: `${one} and ${two} both hold it`, remedy };
      },
    );
  });
}

const holderOf = ({ attachment, subnet, seq }: Allocation, namesSubnet: boolean): string =>
  `Pod ${podOf(attachment)} (${namesSubnet ? `subnet ${subnet}, ` : ''}event ${seq})`;

function thingsHeld({ attachment, subnet, network, addresses, mac }: Allocation): string[] {
  // An older allocator does not say the network; there a MAC was held once in a subnet.
  const where = network === '' ? `in subnet ${subnet}` : `on network ${network}`;
  const things = addresses.flatMap(({ address }) => [
    `${address} of subnet ${subnet}`,
    ...(network === '' ? [] : [`${address} ${where}`]),
  ]);
  things.push(`attachment ${attachment?.ordinal} to ${attachment?.provider} of Pod ${podOf(attachment)}`);
  if (mac !== '') things.push(`MAC ${mac} ${where}`);
  return things;
}

/** What the ledger counts of Subnets and IPPools is what its allocations come to. */
export function compareCounts({ ledger: { allocations, subnets, pools } }: Picture): Disagreement[] {
  const heldIn = heldBySubnet(allocations, subnets);
  return [
    ...subnets.flatMap(({ name, spec, usage }) => {
      const excluded = listed(spec?.excludeIps);
      // Excluded addresses can be held by who asks for them by name, and do not count.
      return compareUsage(
        `subnet ${name}`,
        usage,
        heldIn(name).filter((address) => !excluded(address)),
      );
    }),
    // Of a pool they do: it has no more addresses than it names.
    ...pools.flatMap(({ name, spec, usage }) =>
      compareUsage(`ippool ${name}`, usage, heldIn(spec?.subnet).filter(listed(spec?.ips))),
    ),
  ];
}

/**
 * Which addresses count as in use in a Subnet: those of its own allocations, and those of its range that other Subnets gave on its
 * network. An older allocator does not say the network, and counts a Subnet's own only.
 */
export function heldBySubnet(
  allocations: readonly Allocation[],
  subnets: readonly Subnet[],
): (subnet?: string) => string[] {
  const homes = new Map(subnets.map((each) => [each.name, homeOf(each)]));
  const cidrOf = new Map(subnets.map((each) => [each.name, within(each)]));
  const addressesOf = ({ addresses }: Allocation): string[] => addresses.map(({ address }) => address);
  const bySubnet = Map.groupBy(allocations, ({ subnet }) => subnet);
  const onNetworks = allocations.flatMap((each) =>
    each.network === ''
      ? []
      : [...new Set([each.network, homes.get(each.subnet) ?? ''])].map((network) => [network, each] as const),
  );
  const byNetwork = Map.groupBy(onNetworks, ([network]) => network);
  return (subnet = '') => {
    const isOfSubnet = cidrOf.get(subnet) ?? (() => false);
    const others = (byNetwork.get(homes.get(subnet) ?? '') ?? []).flatMap(([, each]) =>
      each.subnet === subnet ? [] : each,
    );
    return [
      ...new Set([
        ...(bySubnet.get(subnet) ?? []).flatMap(addressesOf),
        ...others.flatMap(addressesOf).filter(isOfSubnet),
      ]),
    ];
  };
}

function compareUsage(where: string, usage: readonly Usage[], held: readonly string[]): Disagreement[] {
  return usage.flatMap(({ family, inUse, reserved }): Disagreement[] => {
    const count = held.filter((address) => isIPv4(address) === (family === 4)).length;
    if (count + Number(reserved) === Number(inUse)) return [];
    const what = `the ledger counts ${inUse} IPv${family} addresses in use, and ${count} are held, ${reserved} reserved`;
    const remedy = command(['ipledger', 'verify'], 'then restart the allocator, and report it');
    return [{ kind: 'count', where, what, remedy }];
  });
}

/** Whether an address is in the range of a Subnet. */
const within =
  ({ spec }: Subnet) =>
  (address: string): boolean =>
    (spec?.cidrBlock ?? '').split(',').some((cidr) => cidrHas(cidr, address));

/** The network of a Subnet's provider; of Kube-OVN's own type each Subnet is one. */
const homeOf = ({ name, spec }: Subnet): string => {
  const provider = spec?.provider ?? '';
  return isOvnProvider(provider) ? `switch/${name}` : provider;
};

/** Whether an address is one of a list of addresses and ranges in the ledger's normal form. */
function listed(ranges: readonly string[] = []): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [first = '', last = first] = range.split('..');
    list.addRange(first, last, isIPv4(first) ? 'ipv4' : 'ipv6');
  }
  return (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/**
 * Addresses that are given to nobody since a container may still answer on them, though no Pod holds them any more. That is as it
 * should be, until its DEL, its node's reboot or deletion, or the subnet's binding timeout.
 */
export function heldBack({ allocations, bindings }: LedgerPicture): SandboxBinding[] {
  const held = new Set(allocations.flatMap((each) => placesOf(each)));
  return bindings.filter(({ subnet, addresses }) => !addresses.some((address) => held.has(`${subnet}/${address}`)));
}

/**
 * One address is on one node at a time, but for virtual machines: while one moves, it is on two. A Bind on a second node waits as
 * long as the first may answer; what this finds was bound after the binding timeout, or by an earlier version.
 */
export function compareBoundNodes({ ledger: { allocations, bindings } }: Picture): Disagreement[] {
  const ofMachines = allocations.filter(({ owner }) => owner?.kind === machineKind);
  const machines = new Set(ofMachines.map(({ seq }) => seq));
  const addressesOfMachines = new Set(ofMachines.flatMap((each) => placesOf(each)));
  // An older allocator does not say which allocation it was: there the address tells.
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
    const [oldest] = [...nodes.values()].sort((one, other) => sinceOf(one) - sinceOf(other));
    const each = [...nodes].map(([node, { binding }]) => `container ${binding?.containerId} on node ${node}`);
    const node = oldest?.binding?.node ?? '';
    const remedy = command(
      ['kubectl', 'delete', 'node', node],
      `if ${node} is down for good; if it runs, remove that container there: its CNI DEL ends the binding`,
    );
    return [{ kind: 'bound on two nodes', where, what: `${each.join(' and ')} both have it`, remedy }];
  });
}

/** "subnet/address" of each address that an allocation has. */
const placesOf = ({ subnet, addresses }: Allocation): string[] =>
  addresses.map(({ address }) => `${subnet}/${address}`);

const sinceOf = ({ binding }: SandboxBinding): number => Date.parse(binding?.at ?? '') || 0;

/** What is held back for a Node that Kubernetes does not have (any more) is held back for nothing. */
export function compareNodes({ ledger, cluster }: Picture): Disagreement[] {
  // An address that was passed on is held by the next Pod, which waits for the container of the one before.
  const inForce = new Set(ledger.allocations.map(({ seq }) => seq));
  // An older allocator does not say which allocation it was.
  const unheld = new Set(heldBack(ledger));
  const leftBehind = ledger.bindings.filter((each) =>
    each.allocationSeq === 0 ? unheld.has(each) : !inForce.has(each.allocationSeq),
  );
  return leftBehind.flatMap(({ attachment, subnet, addresses, binding }): Disagreement[] => {
    const { containerId = '', node = '' } = binding ?? {};
    if (cluster.nodes.has(node)) return [];
    const what = `held back for container ${containerId} of Pod ${podOf(attachment)} on node ${node}, and there is no such Node`;
    const remedy = restartWatcher('it ends what was bound on a Node that is deleted');
    return [{ kind: 'node gone', where: `${addresses.join(',')} of subnet ${subnet}`, what, remedy }];
  });
}

/** An address whose key in etcd was changed by something else is out of use until a person has looked at it. */
export function compareFences({ ledger }: Picture): Disagreement[] {
  const byAddress = new Map(
    ledger.allocations.flatMap((allocation) =>
      allocation.addresses.map(({ address }) => [`${allocation.subnet}/${address}`, allocation] as const),
    ),
  );
  return ledger.subnets.flatMap(({ name, fenced }) =>
    fenced.map((address): Disagreement => {
      const holder = byAddress.get(`${name}/${address}`);
      const whose = holder ? `; the ledger says Pod ${podOf(holder.attachment)} holds ${said(holder)}` : '';
      const what = `its key in etcd was changed by something else than ipledger: it is fenced${whose}`;
      const remedy = command(
        ['ipledger', 'check', '--claims'],
        'it has the command that puts back into its key what the log says; then restart the allocators',
      );
      return { kind: 'fenced', where: `${address} of subnet ${name}`, what, remedy };
    }),
  );
}

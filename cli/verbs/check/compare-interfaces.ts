/** Compares the allocations with the addresses that Multus reports of a Pod's interfaces. */
import type { Allocation } from '../../../proto/generated/ipledger.ts';
import type { CheckInput } from './check-input.ts';
import { parseNetworkStatus } from '../../cluster/network-status.ts';
import { podKey } from '../../output/format.ts';
import type { Disagreement } from './disagreement.ts';
import type { Pod } from '../../cluster/cluster-state.ts';
import { formatShellCommand } from '../../shell-command.ts';

/** On a network of its allocations, a running Pod has the allocated addresses only. */
export function compareInterfaces({ ledger, cluster }: CheckInput): Disagreement[] {
  const byUid = Map.groupBy(ledger.allocations, ({ podUid }) => podUid);
  return cluster.pods
    .filter(({ phase, isTerminating }) => phase === 'Running' && !isTerminating)
    .flatMap((pod) => comparePod(pod, byUid.get(pod.identity) ?? []));
}

function comparePod(pod: Pod, held: readonly Allocation[]): Disagreement[] {
  const interfaces = parseNetworkStatus(pod);
  const byNetwork = Map.groupBy(held, ({ attachment }) => networkOf(attachment?.provider ?? ''));
  return [...byNetwork].flatMap(([network, allocations]) => {
    const allocated = new Set(allocations.flatMap(({ addresses }) => addresses.map(({ address }) => address)));
    return interfaces
      .filter((each) => each.network === network)
      .flatMap(({ interface: name, addresses }) =>
        addresses
          .filter((address) => !allocated.has(address))
          .map((address) => createDisagreement(pod, { address, name, allocated })),
      );
  });
}

function createDisagreement(
  pod: Pod,
  {
    address,
    name,
    allocated,
  }: { readonly address: string; readonly name: string; readonly allocated: ReadonlySet<string> },
): Disagreement {
  const what = `its ${name} has ${address}; the ledger has ${[...allocated].join(' and ')}`;
  const remedy = formatShellCommand(
    ['ipledger', 'history', address],
    'the Pods that had it; only a new sandbox of this Pod gets the allocated address',
  );
  return { kind: 'other address in use', where: `Pod ${podKey(pod)}`, what, remedy };
}

/** The provider "<name>.<namespace>[.ovn]" as Multus' name of the network, "<namespace>/<name>". */
function networkOf(provider: string): string {
  const [, name = '', namespace = ''] = /^(.+)\.([^.]+)$/.exec(provider.replace(/\.ovn$/, '')) ?? [];
  return `${namespace}/${name}`;
}

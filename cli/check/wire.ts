/** What runs, against what was given: the addresses that Multus says a Pod's interfaces have. */
import type { Allocation } from '../../proto/ipledger.ts';
import type { Disagreement, Picture, Pod } from './picture.ts';
import { record, json, text } from '../../lib/raw.ts';
import { command, podKey } from './say.ts';

const statusAnnotation = 'k8s.v1.cni.cncf.io/network-status';

/** A running Pod uses, on the networks whose addresses it was given, these addresses and no others. */
export function compareWire({ ledger, cluster }: Picture): Disagreement[] {
  const held = Map.groupBy(ledger.allocations, ({ podUid }) => podUid);
  return cluster.pods
    .filter(({ phase, deletionAt }) => phase === 'Running' && deletionAt === undefined)
    .flatMap((pod) => ofPod(pod, held.get(pod.identity) ?? []));
}

function ofPod(pod: Pod, held: readonly Allocation[]): Disagreement[] {
  const interfaces = interfacesOf(pod);
  const byNetwork = Map.groupBy(held, ({ attachment }) => networkOf(attachment?.provider ?? ''));
  return [...byNetwork].flatMap(([network, allocations]) => {
    const given = new Set(allocations.flatMap(({ addresses }) => addresses.map(({ address }) => address)));
    return interfaces
      .filter(({ name }) => name === network)
      .flatMap(({ interface: name, addresses }) =>
        addresses.filter((address) => !given.has(address)).map((address) => strange(pod, { address, name, given })),
      );
  });
}

function strange(
  pod: Pod,
  { address, name, given }: { readonly address: string; readonly name: string; readonly given: ReadonlySet<string> },
): Disagreement {
  const what = `its ${name} has ${address}; the ledger says ${[...given].join(' and ')}`;
  const remedy = command(
    ['kubectl', 'delete', 'pod', '-n', pod.namespace, pod.name],
    'only a new sandbox takes up another address',
  );
  return { kind: 'other address in use', where: `Pod ${podKey(pod)}`, what, remedy };
}

/** "<NetworkAttachmentDefinition>.<namespace>[.ovn]" as Multus names the network, "<namespace>/<name>". */
function networkOf(provider: string): string {
  const [, name = '', namespace = ''] = /^(.+)\.([^.]+)$/.exec(provider.replace(/\.ovn$/, '')) ?? [];
  return `${namespace}/${name}`;
}

/** What cannot be read is Multus' business. */
function interfacesOf({ annotations }: Pod) {
  const listed = json(annotations[statusAnnotation] ?? '');
  return (Array.isArray(listed) ? listed : []).map(record).map(({ name, interface: own, ips }) => ({
    name: text(name),
    interface: text(own),
    addresses: (Array.isArray(ips) ? ips : []).map(text).filter((address) => address !== ''),
  }));
}

/** The ports of Open vSwitch on one node, compared with the bindings of the ledger. Pure. */
import { vendor, logicalPortName } from '../../lib/ovn/names.ts';
import { type Row, textOf } from '../../lib/ovsdb/values.ts';
import { mapText, type OvnDrift } from './northbound.ts';
import { isOvnProvider } from '../../lib/kubernetes/served-network.ts';
import type { Allocation, SandboxBinding } from '../../proto/generated/ipledger.ts';
import { formatPodName, shortContainerId } from '../../lib/ledger-text/texts.ts';
import { formatShellCommand } from '../shell-command.ts';

export interface NodeSwitch {
  /** The names under which OVN knows the node: its system id and its hostname. */
  readonly nodeNames: ReadonlySet<string>;
  /** The interfaces that node agents made. */
  readonly interfaces: readonly NodeInterface[];
}

export interface NodeInterface {
  readonly name: string;
  /** The name of the logical port. */
  readonly port: string;
  readonly containerId: string;
  /** "namespace/name" of the Pod. */
  readonly pod: string;
}

/** The columns that `parseNodeSwitch` reads. */
export const nodeSwitchColumns = { Open_vSwitch: ['external_ids'], Interface: ['name', 'external_ids'] };

/** Converts the rows of the two tables. */
export function parseNodeSwitch(root: Iterable<Row>, interfaces: Iterable<Row>): NodeSwitch {
  const names = [...root].flatMap(({ external_ids: ids }) => [mapText(ids, 'system-id'), mapText(ids, 'hostname')]);
  return {
    nodeNames: new Set(names.filter((name) => name !== '')),
    interfaces: [...interfaces]
      .filter(({ external_ids: ids }) => mapText(ids, 'vendor') === vendor && mapText(ids, 'iface-id') !== '')
      .map(({ name, external_ids: ids }) => ({
        name: textOf(name),
        port: mapText(ids, 'iface-id'),
        containerId: mapText(ids, 'container_id'),
        pod: `${mapText(ids, 'pod_namespace')}/${mapText(ids, 'pod_name')}`,
      })),
  };
}

interface LedgerBindings {
  readonly allocations: readonly Pick<Allocation, 'seq'>[];
  /** The bindings, also of released addresses: containers may keep their ports until CNI DEL. */
  readonly bindings: readonly SandboxBinding[];
}

/** Finds bindings without a port, then ports without a binding. */
export function compareNodeSwitch(
  { allocations, bindings }: LedgerBindings,
  { nodeNames, interfaces }: NodeSwitch,
): OvnDrift[] {
  const bound = bindings.flatMap((each) => {
    const { attachment, binding } = each;
    if (!attachment || !binding || !nodeNames.has(binding.node) || !isOvnProvider(attachment.provider)) return [];
    return [{ ...each, key: keyOf(binding.containerId, logicalPortName(attachment)), binding }];
  });
  const current = new Set(allocations.map(({ seq }) => seq));
  const present = new Set(interfaces.map(({ containerId, port }) => keyOf(containerId, port)));
  const known = new Set(bound.map(({ key }) => key));
  return [
    ...bound.filter(({ key, allocationSeq }) => current.has(allocationSeq) && !present.has(key)).map(describeMissing),
    ...interfaces.filter(({ containerId, port }) => !known.has(keyOf(containerId, port))).map(describeSurplus),
  ];
}

const keyOf = (containerId: string, port: string): string => `${containerId}/${port}`;

function describeMissing({
  attachment,
  binding,
}: Pick<SandboxBinding, 'attachment'> & { readonly binding: { readonly containerId: string; readonly node: string } }) {
  const container = shortContainerId(binding.containerId);
  const what = `container ${container} of Pod ${formatPodName(attachment)} has a binding on node ${binding.node}, and no port`;
  const remedy = formatShellCommand(
    ['kubectl', 'describe', 'pod', '-n', attachment?.namespace ?? '', attachment?.pod ?? ''],
    'only a new sandbox gets a port: create the Pod again when that is possible',
  );
  const where = `port ${attachment ? logicalPortName(attachment) : ''}`;
  return { kind: 'OVS port missing', where, what, remedy } satisfies OvnDrift;
}

function describeSurplus({ name, port, containerId, pod }: NodeSwitch['interfaces'][number]) {
  const what = `interface ${name} is of container ${shortContainerId(containerId)} of Pod ${pod}, which has no binding`;
  const remedy = formatShellCommand(
    ['ovs-vsctl', 'list', 'Interface', name],
    'on the node; if `crictl pods` shows that the container is gone, remove the port',
  );
  return { kind: 'OVS port without binding', where: `port ${port}`, what, remedy } satisfies OvnDrift;
}

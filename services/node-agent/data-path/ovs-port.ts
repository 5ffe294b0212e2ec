/** Operations that insert and remove the OVS port of a NIC, and the list of owned ports. Pure. */
import { existsSync } from 'node:fs';
import { vendor } from '../../../lib/ovn/names.ts';
import type { Operation } from '../../../lib/ovsdb/transaction.ts';
import { type NamedUuid, type Row, textMap, textOf, textSet } from '../../../lib/ovsdb/values.ts';
import type { ContainerInterface } from '../bindings/binding-files.ts';
import type { OvsDatabase } from '../ovs/ovs-database.ts';
import { DataPathError } from './data-path-error.ts';
import { findHostLinkName } from './host-link.ts';
import type { NicPlan } from './nic-plan.ts';
import type { RateLimit } from './nic-settings.ts';

type OvsRows = Pick<OvsDatabase, 'rows'>;

/** An Interface row that the agent inserted. */
export interface OwnedPort extends ContainerInterface {
  /** UUID of the Interface row. */
  readonly uuid: string;
  /** The name of the host link. */
  readonly name: string;
  readonly provider: string;
  readonly netns: string;
  readonly logicalPort: string;
  /** The error of ovs-vswitchd; '' if there is none. */
  readonly error: string;
}

/** Returns the ports of all containers, without those of other vendors. */
export function ownedPorts(ovs: OvsRows): OwnedPort[] {
  const owned: OwnedPort[] = [];
  for (const [uuid, row] of ovs.rows('Interface')) {
    const ids = textMap(row['external_ids']);
    const [containerId, name] = [ids.get('container_id'), ids.get('interface')];
    if (ids.get('vendor') !== vendor || containerId === undefined || name === undefined) continue;
    owned.push({
      uuid,
      name: textOf(row['name']),
      containerId,
      interface: name,
      provider: ids.get('provider') ?? '',
      netns: ids.get('pod_netns') ?? '',
      logicalPort: ids.get('iface-id') ?? '',
      error: textOf(row['error']),
    });
  }
  return owned;
}

/** Returns the ports of one NIC of a container: at most one, unless another program wrote rows. */
export const portsOf = (ovs: OvsRows, { containerId, interface: name }: ContainerInterface): OwnedPort[] =>
  ownedPorts(ovs).filter((port) => port.containerId === containerId && port.interface === name);

/**
 * Returns the host links of a NIC: those of its ports, and the link that an ADD made without a
 * port. Excludes a link of the same name that belongs to another container.
 */
export function hostLinksOf(ovs: Pick<OvsDatabase, 'rows' | 'named'>, container: ContainerInterface): string[] {
  const names = portsOf(ovs, container).map(({ name }) => name);
  const name = findHostLinkName(container);
  if (name === undefined || names.includes(name) || ovs.named('Interface', name)) return names;
  return [...names, name];
}

/** Returns the Interface rows that a new port replaces, by logical port or host link. */
function replacedInterfaces(
  ovs: OvsRows,
  { logicalPort, hostLink }: Pick<NicPlan, 'logicalPort' | 'hostLink'>,
): { uuid: string; row: Row }[] {
  const replaced: { uuid: string; row: Row }[] = [];
  for (const [uuid, row] of ovs.rows('Interface'))
    if (row['name'] === hostLink || textMap(row['external_ids']).get('iface-id') === logicalPort)
      replaced.push({ uuid, row });
  return replaced;
}

/** The identity of a NIC's rows: QoS and Queue remain when the port is removed. */
const identityOf = ({ containerId, interface: name }: ContainerInterface): Map<string, string> =>
  new Map([
    ['vendor', vendor],
    ['container_id', containerId],
    ['interface', name],
  ]);

/** Returns the operations that remove replaced ports and insert a NIC's port. */
export function insertPortOperations(ovs: OvsRows, bridge: string, plan: NicPlan): Operation[] {
  const { hostLink, egress } = plan;
  const identity = identityOf(plan);
  const externalIds = new Map([
    ...identity,
    ['iface-id', plan.logicalPort],
    ['pod_name', plan.pod.name],
    ['pod_namespace', plan.pod.namespace],
    ['pod_netns', plan.netns],
    ['ip', plan.addresses.map((address) => address.split('/')[0] ?? '').join(',')],
    ['provider', plan.provider],
  ]);
  // Polices the switch's ingress, which is the Pod's egress. Kube-OVN's burst is 80 % of the rate.
  const policing = egress && {
    ingress_policing_rate: egress.kbps,
    ingress_policing_burst: egress.burstKb || Math.ceil(egress.kbps * 0.8),
  };
  return [
    ...replacedInterfaces(ovs, plan).flatMap(({ uuid, row }) => removePortOperations(ovs, uuid, row)),
    ...(plan.ingress ? insertQosOperations(plan.ingress, identity) : []),
    {
      op: 'insert',
      table: 'Interface',
      uuidName: 'interface',
      row: { name: hostLink, external_ids: externalIds, ...policing },
    },
    {
      op: 'insert',
      table: 'Port',
      uuidName: 'port',
      row: {
        name: hostLink,
        interfaces: new Set([{ uuidName: 'interface' }]),
        external_ids: identity,
        ...(plan.ingress && { qos: { uuidName: 'qos' } }),
      },
    },
    changePorts(bridge, 'insert', { uuidName: 'port' }),
  ];
}

/**
 * Returns the rows of QoS and Queue. All packets to the Pod go through queue 0 of linux-htb, whose
 * rate is in bit/s.
 */
function insertQosOperations({ kbps, burstKb }: RateLimit, externalIds: Map<string, string>): Operation[] {
  const maxRate = String(kbps * 1_000);
  const limits = new Map([['max-rate', maxRate]]);
  if (burstKb > 0) limits.set('burst', String(burstKb * 1_000));
  return [
    { op: 'insert', table: 'Queue', uuidName: 'queue', row: { other_config: limits, external_ids: externalIds } },
    {
      op: 'insert',
      table: 'QoS',
      uuidName: 'qos',
      row: {
        type: 'linux-htb',
        // Lifts the limit of the whole QoS, which is 10 Gbit/s by default.
        other_config: new Map([['max-rate', maxRate]]),
        queues: new Map([[0, { uuidName: 'queue' }]]),
        external_ids: externalIds,
      },
    },
  ];
}

/** Returns the operations that remove a port and ipledger's QoS and Queue rows. */
export function removePortOperations(ovs: OvsRows, uuid: string, row: Row | undefined): Operation[] {
  const ports = [...ovs.rows('Port')].filter(([, { interfaces }]) => textSet(interfaces).has(uuid));
  const operations = ports.flatMap(([port]) => [
    ...[...ovs.rows('Bridge')]
      .filter(([, bridge]) => textSet(bridge['ports']).has(port))
      .map(([bridge]): Operation => changePorts(bridge, 'delete', port)),
    // Deletes the Port row: it refers to the QoS row until OVS would delete it at commit.
    { op: 'delete', table: 'Port', where: [['_uuid', '==', port]] } as const,
  ]);
  const ids = textMap(row?.['external_ids']);
  const [containerId, name] = [ids.get('container_id'), ids.get('interface')];
  if (ids.get('vendor') !== vendor || containerId === undefined || name === undefined) return operations;
  return [...operations, ...deleteQosOperations({ containerId, interface: name })];
}

const changePorts = (bridge: string, mutator: 'insert' | 'delete', port: string | NamedUuid): Operation => ({
  op: 'mutate',
  table: 'Bridge',
  where: [['_uuid', '==', bridge]],
  mutations: [['ports', mutator, new Set([port])]],
});

/** Returns the operations that delete the QoS and Queue rows of a NIC. */
export const deleteQosOperations = (container: ContainerInterface): Operation[] =>
  (['QoS', 'Queue'] as const).map((table) => ({
    op: 'delete',
    table,
    where: [['external_ids', 'includes', identityOf(container)]],
  }));

/**
 * Rejects a host link in use: host links of two containers have the same name if their IDs begin
 * alike.
 * @throws DataPathError port if another container still uses the name
 */
export function rejectLinkInUse(
  ovs: Pick<OvsDatabase, 'named'>,
  { hostLink, netns, containerId }: NicPlan,
  exists: (path: string) => boolean = existsSync,
): void {
  const ids = textMap(ovs.named('Interface', hostLink)?.row['external_ids']);
  const [other, otherNetns] = [ids.get('container_id'), ids.get('pod_netns') ?? ''];
  if (other === undefined || other === containerId || otherNetns === netns || !exists(otherNetns)) return;
  throw new DataPathError('port', `link ${hostLink} belongs to container ${other}, whose ID begins alike: try again`);
}

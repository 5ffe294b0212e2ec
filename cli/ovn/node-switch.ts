/** What Open vSwitch of one node has, as far as it is compared with the bindings of the ledger. */
import { vendor } from '../../lib/ovn/names.ts';
import { type Row, textOf } from '../../lib/ovsdb/values.ts';
import { mapText } from './northbound.ts';

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

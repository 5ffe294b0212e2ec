/** Converts the changes of a plan to one transaction of the Open_vSwitch database. Pure. */
import { vendor } from '../../../lib/ovn/names.ts';
import type { Mutation, Operation } from '../../../lib/ovsdb/transaction.ts';
import { type Atom, type NewValue, textMap } from '../../../lib/ovsdb/values.ts';
import type { OvsRow } from '../ovs/ovs-database.ts';
import { formatMappings, mappingsKey, type UnderlayChange } from './underlay-plan.ts';

const ours: ReadonlyMap<string, string> = new Map([['vendor', vendor]]);

/** The type of datapath that OVN uses on this node; "" means the kernel's. */
const datapathKey = 'ovn-bridge-datapath-type';

/**
 * Returns the operations of the changes. They fail with FENCED, and change nothing, if another
 * program has written the row of Open_vSwitch since it was read. The server deletes rows without a
 * reference, so the removal of its reference removes a bridge with its ports.
 */
export function underlayOperations(root: OvsRow, changes: readonly UnderlayChange[]): Operation[] {
  const { bridges, external_ids: externalIds } = root.row;
  const ofRoot = [['_uuid', '==', root.uuid]] as const;
  const isUnchanged: Operation = {
    op: 'wait',
    table: 'Open_vSwitch',
    where: ofRoot,
    columns: ['bridges', 'external_ids'],
    until: '==',
    rows: [{ bridges, external_ids: externalIds }],
    timeoutMs: 0,
  };
  const mutateRoot = (...mutations: Mutation[]): Operation => ({
    op: 'mutate',
    table: 'Open_vSwitch',
    where: ofRoot,
    mutations,
  });
  const datapath = textMap(externalIds).get(datapathKey) ?? '';
  return [
    isUnchanged,
    ...changes.flatMap((change, at) => {
      if (change.kind === 'add bridge') {
        const operations = addBridge(change.bridge, { nic: change.nic, datapath, at });
        return [...operations, mutateRoot(['bridges', 'insert', named(`bridge_${at}`)])];
      }
      if (change.kind === 'remove bridge') return [mutateRoot(['bridges', 'delete', new Set([change.bridge.uuid])])];
      if (change.kind === 'set mappings') return [setMappings(mutateRoot, formatMappings(change.mappings))];
      return changePort(change, at);
    }),
  ];
}

function addBridge(
  name: string,
  { nic, datapath, at }: { readonly nic: string; readonly datapath: string; readonly at: number },
): Operation[] {
  const ports = new Set([{ uuidName: `port_own_${at}` }, { uuidName: `port_nic_${at}` }]);
  const row = { name, ports, datapath_type: datapath, external_ids: ours };
  return [
    ...addPort(name, 'internal', `own_${at}`),
    ...addPort(nic, '', `nic_${at}`),
    { op: 'insert', table: 'Bridge', row, uuidName: `bridge_${at}` },
  ];
}

/** Inserts a port. The bridge's internal port has no mark: it is removed with the bridge. */
function addPort(name: string, type: 'internal' | '', id: string): Operation[] {
  const interfaces = new Set([{ uuidName: `interface_${id}` }]);
  const externalIds = type === '' ? ours : new Map<Atom, Atom>();
  return [
    { op: 'insert', table: 'Interface', row: { name, type }, uuidName: `interface_${id}` },
    { op: 'insert', table: 'Port', row: { name, interfaces, external_ids: externalIds }, uuidName: `port_${id}` },
  ];
}

function changePort(change: Extract<UnderlayChange, { kind: 'add port' | 'remove port' }>, at: number): Operation[] {
  const isAdded = change.kind === 'add port';
  const mutation: Mutation = isAdded
    ? ['ports', 'insert', named(`port_nic_${at}`)]
    : ['ports', 'delete', new Set([change.port.uuid])];
  return [
    ...(isAdded ? addPort(change.nic, '', `nic_${at}`) : []),
    { op: 'mutate', table: 'Bridge', where: [['_uuid', '==', change.bridge.uuid]], mutations: [mutation] },
  ];
}

/** Deletes the key first: an insertion does not replace the value of a present key. */
function setMappings(mutateRoot: (...mutations: Mutation[]) => Operation, text: string): Operation {
  const remove: Mutation = ['external_ids', 'delete', new Set([mappingsKey])];
  return text === ''
    ? mutateRoot(remove)
    : mutateRoot(remove, ['external_ids', 'insert', new Map([[mappingsKey, text]])]);
}

const named = (uuidName: string): NewValue => new Set([{ uuidName }]);

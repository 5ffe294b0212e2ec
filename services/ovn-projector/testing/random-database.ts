/**
 * Generates random northbound databases and desired rows. They share few names, so that they
 * collide.
 */
import fc from 'fast-check';
import type { Operation } from '../../../lib/ovsdb/transaction.ts';
import type { NewRow } from '../../../lib/ovsdb/values.ts';
import { ownerIds, parentTables, type PortTable } from '../rows/desired-row.ts';
import { noGuestSettings } from '../rows/dhcp-options.ts';
import { DesiredRows } from '../rows/desired-rows.ts';
import { allocationOf, rowInputs, settingsOf, subnetNamed, testLedger } from './row-inputs.ts';

const subnetNames = ['lan', 'wan', 'old'];
const podNames = ['a', 'b', 'c', 'd', 'e'];
const routers = ['ovn-cluster', 'vpc1'];

const owners = fc.constantFrom(
  ownerIds(testLedger),
  ownerIds(testLedger),
  new Map([...ownerIds(testLedger), ['note', 'of an operator']]),
  ownerIds('01ANOTHERLEDGER'),
  new Map([['vendor', 'kube-ovn']]),
  new Map<string, string>(),
);

/** Inputs with Subnets of all kinds, and Pods on them. */
export const randomInputs = fc
  .record({
    subnets: fc.subarray(subnetNames),
    vlan: fc.constantFrom('', '', 'vlan7', 'missing'),
    vpc: fc.constantFrom('', 'vpc1'),
    enableDHCP: fc.boolean(),
    dhcpV4Options: fc.constantFrom('', 'lease_time=60'),
    cidrs: fc.constantFrom(['10.8.0.0/24'], ['10.8.0.0/24', 'fd00:8::/64']),
    hasLogicalGateway: fc.boolean(),
    pods: fc.uniqueArray(
      fc.record({
        pod: fc.constantFrom(...podNames),
        subnet: fc.constantFrom(...subnetNames),
        node: fc.constantFrom('', 'node-1'),
        ordinal: fc.nat(1),
      }),
      { selector: ({ pod, ordinal }) => `${pod}.${ordinal}` },
    ),
  })
  .map(({ subnets, vlan, vpc, hasLogicalGateway, pods, cidrs, ...guests }) =>
    rowInputs({
      subnets: subnets.map((name) => subnetNamed(name, { cidrs })),
      settings: {
        lan: settingsOf({ vlan, hasLogicalGateway, guests: { ...noGuestSettings, ...guests } }),
        wan: settingsOf({ vpc, guests: { ...noGuestSettings, enableDHCP: true } }),
      },
      vlans: { vlan7: { id: 7, provider: 'physnet', problems: [] } },
      providerNetworks: ['physnet'],
      allocations: pods.map(({ pod, ...parts }) => allocationOf(pod, parts)),
    }),
  );

const portNames = [
  ...podNames.map((pod) => `${pod}.default.net.default.ovn`),
  ...podNames.map((pod) => `${pod}.default.net.default.ovn.1`),
  ...subnetNames.flatMap((subnet) => [`localnet.${subnet}`, ...routers.map((router) => `${subnet}-${router}`)]),
  'other',
];
const routerPortNames = [...routers.flatMap((router) => subnetNames.map((subnet) => `${router}-${subnet}`)), 'other'];

const containers = (table: 'Logical_Switch' | 'Logical_Router', names: readonly string[]) =>
  fc.array(fc.record({ table: fc.constant(table), name: fc.constantFrom(...names, 'other'), owner: owners }), {
    maxLength: 5,
  });
const ports = (table: PortTable, names: readonly string[]) =>
  fc.uniqueArray(
    fc.record({
      table: fc.constant(table),
      name: fc.constantFrom(...names),
      owner: owners,
      parents: fc.uniqueArray(fc.nat(4), { minLength: 1, maxLength: 2 }),
      columns: fc.constantFrom<NewRow>({}, table === 'Logical_Switch_Port' ? { tag: 3 } : { mac: '0e:00:00:00:00:01' }),
    }),
    { selector: ({ name }) => name, maxLength: 12 },
  );

const dhcpOptions = fc.array(
  fc.record({
    ls: fc.constantFrom(...subnetNames),
    protocol: fc.constantFrom('IPv4', 'IPv6'),
    owner: owners,
  }),
  { maxLength: 3 },
);

/** Operations that fill an empty database. */
export const randomContents: fc.Arbitrary<readonly Operation[]> = fc
  .tuple(
    containers('Logical_Switch', subnetNames),
    containers('Logical_Router', routers),
    ports('Logical_Switch_Port', portNames),
    ports('Logical_Router_Port', routerPortNames),
    dhcpOptions,
  )
  .map(([switches, routersOf, switchPorts, routerPorts, options]) => {
    const parents = [...switches, ...routersOf];
    const all = [...switchPorts, ...routerPorts];
    const portOps = all.map(({ table, name, owner, columns }, index): Operation => {
      const isOwn = table === 'Logical_Switch_Port' && owner.get('ipledger') === testLedger;
      const dhcp = isOwn && options.length > 0 && { dhcpv4_options: { uuidName: 'options0' } };
      return { op: 'insert', table, uuidName: `port${index}`, row: { ...columns, ...dhcp, name, external_ids: owner } };
    });
    const parentOps = parents.map(({ table, name, owner }, at): Operation => {
      const ofTable = parents.slice(0, at).filter((each) => each.table === table).length;
      const own = all.flatMap((port, index) =>
        parentTables[port.table] === table && port.parents.includes(ofTable) ? [{ uuidName: `port${index}` }] : [],
      );
      return { op: 'insert', table, row: { name, external_ids: owner, ports: new Set(own) } };
    });
    const optionOps = options.map(({ ls, protocol, owner }, index): Operation => {
      const row = { cidr: '10.9.0.0/24', external_ids: new Map([...owner, ['ls', ls], ['protocol', protocol]]) };
      return { op: 'insert', table: 'DHCP_Options', uuidName: `options${index}`, row };
    });
    return [...optionOps, ...portOps, ...parentOps];
  });

/** Desired rows computed from random inputs. */
export const randomRows = randomInputs.map((inputs) => ({ inputs, desired: new DesiredRows(inputs) }));

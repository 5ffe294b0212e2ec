/** Kube-OVN's ProviderNetwork: a physical network, and the NIC of each node for it. Pure. */
import { asRecord, asText, asTexts } from '../../../lib/kubernetes/untyped-json.ts';

export interface ProviderNetwork {
  readonly name: string;
  /** The NIC on this node; undefined if the node is not part of the network. */
  readonly nic: string | undefined;
  /** Why the agent does not serve the network; absent if it does. */
  readonly problem?: string;
}

/** The kernel's limit for the name of an interface, and so of a bridge. */
const maxInterfaceName = 15;
const bridgePrefix = 'br-';
const maxNodeNames = 10_000;

/** Returns the bridge of a network, as Kube-OVN names it. */
export const bridgeOf = (network: string): string => bridgePrefix + network;

/** Settings of Kube-OVN that the agent does not support, each with an alternative. */
const unsupported = [
  [
    'exchangeLinkName',
    'the agent never renames a NIC. Remove it, and set up the bridge in the configuration of the node',
  ],
  ['nodeSelector', 'name the nodes in excludeNodes or customInterfaces'],
  ['preserveVlanInterfaces', 'the agent moves no interface. Use a NIC without VLAN interfaces'],
  ['vlanInterfaces', 'the agent moves no interface. Use a NIC without VLAN interfaces'],
  ['autoCreateVlanSubinterfaces', 'create the VLAN interfaces in the configuration of the node'],
] as const;

/** Parses an object for one node. Invalid fields become the object's problem. */
export function parseProviderNetwork(object: unknown, node: string): ProviderNetwork {
  const { metadata, spec: untypedSpec } = asRecord(object);
  const name = asText(asRecord(metadata)['name']);
  const spec = asRecord(untypedSpec);
  const maxName = maxInterfaceName - bridgePrefix.length;
  if (name.length > maxName)
    return reject(
      name,
      `its name has more than ${maxName} characters, so no bridge can have the name ${bridgeOf(name)}`,
    );
  for (const [field, remedy] of unsupported)
    if (isSet(spec[field])) return reject(name, `spec.${field} is not supported: ${remedy}`);
  const [excluded, custom] = [asTexts(spec['excludeNodes']), asList(spec['customInterfaces'])];
  const nodesOf = custom.map((each) => asTexts(asRecord(each)['nodes']));
  if (excluded.length + nodesOf.reduce((sum, { length }) => sum + length, 0) > maxNodeNames)
    return reject(name, `it names more than ${maxNodeNames} nodes`);
  if (excluded.includes(node)) return { name, nic: undefined };
  const own = custom[nodesOf.findIndex((nodes) => nodes.includes(node))];
  const nic = asText(own === undefined ? spec['defaultInterface'] : asRecord(own)['interface']);
  if (nic === '') return { name, nic: undefined };
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(nic) || nic.length > maxInterfaceName)
    return reject(name, `${JSON.stringify(nic.slice(0, 2 * maxInterfaceName))} is no name of a NIC`);
  return { name, nic };
}

const reject = (name: string, problem: string): ProviderNetwork => ({ name, nic: undefined, problem });

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/** Whether a field has a value other than its default. */
const isSet = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== false;

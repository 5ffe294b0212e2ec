/**
 * The parts of a Subnet object's spec that the ledger does not check, and the fields that the
 * object shows once it is in force. Pure.
 */
import { cidrContains } from '../../../../lib/net/ip.ts';
import type { SubnetSpec } from '../../../../proto/generated/ipledger.ts';
import type { SubnetObject } from '../../kubernetes/objects/subnet.ts';
import type { NodeObject } from '../../kubernetes/objects/node.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { isOvnProvider } from '../../../../lib/kubernetes/served-network.ts';
import { privateNotEnforced, type Warning } from '../object-controller/conditions.ts';

/** The addresses of the cluster, which no Subnet may contain. */
export interface ClusterAddresses {
  /** The address of the Kubernetes API Service; "" if unknown. */
  readonly apiServer: string;
  readonly nodes: ReadonlyMap<string, NodeObject>;
}

const defaultVpc = 'ovn-cluster';

const ipv6MinimumMtu = 1_280;

/**
 * Returns the errors in a spec that neither the CRD nor the ledger detects, as sentences: the MTU,
 * vips outside the CIDRs, addresses of the cluster inside them. A CIDR that cannot be parsed
 * conflicts with no address.
 */
export function specConflicts(object: SubnetObject, { apiServer, nodes }: ClusterAddresses): string[] {
  const { name, spec, overlay } = object;
  const cidrs = spec.cidrBlock.split(',').map((text) => text.trim());
  const cidrOf = (address: string): string | undefined => cidrs.find((cidr) => cidrContains(cidr, address));
  const problems: string[] = [];
  if (overlay.mtu > 0 && overlay.mtu < ipv6MinimumMtu && spec.cidrBlock.includes(':'))
    problems.push(`subnet ${name} mtu ${overlay.mtu} is below the IPv6 minimum ${ipv6MinimumMtu}`);
  for (const vip of overlay.vips) {
    if (vip.includes(':') && /[A-F]/.test(vip))
      problems.push(`subnet ${name} vips ${vip} v6 ip address can not contain upper case`);
    else if (cidrOf(vip) === undefined)
      problems.push(`vip ${vip} conflicts with subnet ${name} cidr ${spec.cidrBlock}`);
  }
  const cidr = cidrOf(apiServer);
  if (cidr !== undefined) problems.push(`subnet ${name} cidr ${cidr} conflicts with k8s apiserver svc ip ${apiServer}`);
  if (!isOverlay(object)) return problems;
  for (const { name: node, addresses } of nodes.values())
    for (const address of addresses) {
      const nodeCidr = cidrOf(address);
      if (nodeCidr !== undefined)
        problems.push(`subnet ${name} cidr ${nodeCidr} conflicts with node ${node} address ${address}`);
    }
  return problems;
}

/** Whether a Subnet is an overlay, which cannot contain Node addresses; other networks can. */
function isOverlay({ spec, overlay: { vpc, vlan } }: SubnetObject): boolean {
  return isOvnProvider(spec.provider) && vlan === '' && (vpc === '' || vpc === defaultVpc);
}

/** Warns about isolation, which has no effect here. */
export function privateWarning({ name, isPrivate }: Pick<SubnetObject, 'name' | 'isPrivate'>): Warning {
  if (!isPrivate) return { ...privateNotEnforced, message: '' };
  const message = `spec.private and spec.allowSubnets of Subnet ${name} have no effect: ipledger gives addresses and filters no packets. Separate the network by VLAN or network policy; list the namespaces that may have addresses of it in spec.namespaces`;
  return { ...privateNotEnforced, message };
}

/** Returns the fields that Kube-OVN writes back when a spec is in force. */
export function appliedSpecFields({ overlay }: SubnetObject, spec: SubnetSpec): UntypedJson {
  const { cidrBlock, gateway, excludeIps, protocol, provider } = spec;
  const fields = { cidrBlock, gateway, excludeIps, protocol, provider };
  if (!isOvnProvider(provider)) return fields;
  const vpc = overlay.vpc || defaultVpc;
  return { ...fields, vpc, ...(vpc === defaultVpc && { gatewayType: overlay.gatewayType || 'distributed' }) };
}

/** Returns the desired fields that the object does not show. */
export function specDifferences(
  { spec, overlay }: SubnetObject,
  desired: UntypedJson,
): { readonly spec?: UntypedJson } {
  const present: UntypedJson = { ...spec, ...overlay };
  const changed = Object.entries(desired).filter(
    ([key, value]) => JSON.stringify(present[key]) !== JSON.stringify(value),
  );
  return changed.length > 0 ? { spec: Object.fromEntries(changed) } : {};
}

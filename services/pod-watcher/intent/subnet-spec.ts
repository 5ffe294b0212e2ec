/** What a Subnet object's spec must be, beyond what the ledger reads of it, and what it shows once it is in force. Pure. */
import { cidrHas } from '../../../lib/ip.ts';
import type { SubnetSpec } from '../../../proto/ipledger.ts';
import type { SubnetObject } from '../kubernetes/kept-objects.ts';
import type { NodeObject } from '../kubernetes/objects.ts';
import type { Raw } from '../../../lib/raw.ts';
import { isOvnProvider } from '../../../lib/provider.ts';
import type { Caution } from './conditions.ts';

/** Addresses that no Subnet may have, where that can be told. */
export interface Surroundings {
  /** Where Pods find the Kubernetes API; "" if not known. */
  readonly apiServer: string;
  readonly nodes: ReadonlyMap<string, NodeObject>;
}

const defaultVpc = 'ovn-cluster';

const ipv6MinimumMtu = 1_280;

/**
 * What is wrong with it that neither its CRD nor the ledger tells, as sentences: its MTU, vips outside its CIDRs, addresses of
 * the cluster itself inside. A CIDR that cannot be read conflicts with none.
 */
export function conflictsOf(object: SubnetObject, { apiServer, nodes }: Surroundings): string[] {
  const { name, spec, overlay } = object;
  const cidrs = spec.cidrBlock.split(',').map((text) => text.trim());
  const inside = (address: string): string | undefined => cidrs.find((cidr) => cidrHas(cidr, address));
  const problems: string[] = [];
  if (overlay.mtu > 0 && overlay.mtu < ipv6MinimumMtu && spec.cidrBlock.includes(':'))
    problems.push(`subnet ${name} mtu ${overlay.mtu} is below the IPv6 minimum ${ipv6MinimumMtu}`);
  for (const vip of overlay.vips) {
    if (vip.includes(':') && /[A-F]/.test(vip))
      problems.push(`subnet ${name} vips ${vip} v6 ip address can not contain upper case`);
    else if (inside(vip) === undefined)
      problems.push(`vip ${vip} conflicts with subnet ${name} cidr ${spec.cidrBlock}`);
  }
  const cidr = inside(apiServer);
  if (cidr !== undefined) problems.push(`subnet ${name} cidr ${cidr} conflicts with k8s apiserver svc ip ${apiServer}`);
  if (!isOverlay(object)) return problems;
  for (const { name: node, addresses } of nodes.values())
    for (const address of addresses) {
      const its = inside(address);
      if (its !== undefined) problems.push(`subnet ${name} cidr ${its} conflicts with node ${node} address ${address}`);
    }
  return problems;
}

/** An overlay cannot be where the Nodes are; all other networks may. */
function isOverlay({ spec, overlay: { vpc, vlan } }: SubnetObject): boolean {
  return isOvnProvider(spec.provider) && vlan === '' && (vpc === '' || vpc === defaultVpc);
}

/** What of a spec has no effect here. */
export function cautionsOf({ name, isolated }: Pick<SubnetObject, 'name' | 'isolated'>): Caution[] {
  if (!isolated) return [];
  const message = `spec.private and spec.allowSubnets of Subnet ${name} have no effect: ipledger gives addresses and filters no packets. Separate the network by VLAN or network policy; list the namespaces that may have addresses of it in spec.namespaces`;
  return [{ type: 'PrivateEnforced', reason: 'PrivateNotEnforced', message }];
}

/** The fields that Kube-OVN writes back when a spec is in force. */
export function shownSpec({ overlay }: SubnetObject, spec: SubnetSpec): Raw {
  const { cidrBlock, gateway, excludeIps, protocol, provider } = spec;
  const shown = { cidrBlock, gateway, excludeIps, protocol, provider };
  if (!isOvnProvider(provider)) return shown;
  const vpc = overlay.vpc || defaultVpc;
  return { ...shown, vpc, ...(vpc === defaultVpc && { gatewayType: overlay.gatewayType || 'distributed' }) };
}

/** Those of the fields that the object does not show. */
export function unshown({ spec, overlay }: SubnetObject, wanted: Raw): { readonly spec?: Raw } {
  const present: Raw = { ...spec, ...overlay };
  const news = Object.entries(wanted).filter(([key, value]) => JSON.stringify(present[key]) !== JSON.stringify(value));
  return news.length > 0 ? { spec: Object.fromEntries(news) } : {};
}

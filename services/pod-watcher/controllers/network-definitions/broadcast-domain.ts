/**
 * Derives the broadcast domain (layer-2 network) of a NIC from its CNI configuration: a host
 * interface and a VLAN. Two networks in one broadcast domain reach each other, with any plugins.
 * Pure.
 *
 * It does not detect several names of one domain (a bond and its member, a VLAN interface without
 * the name "<parent>.<id>"), nor a name with different domains on different nodes.
 */
import * as z from 'zod';
import { goFields } from '../../../../lib/go-fields.ts';
import { networkLimits } from '../../limits.ts';
import { checkShape } from '../../../../lib/check-shape.ts';

const vlanId = z.number().int().min(0).max(4094).catch(0);
const pluginFields = {
  type: z.string().catch(''),
  master: z.string().catch(''),
  bridge: z.string().catch(''),
  device: z.string().catch(''),
  vlan: vlanId,
  vlanId,
  linkInContainer: z.boolean().catch(false),
};
const asGo = goFields(Object.keys(pluginFields));
const plugin = z.preprocess(asGo, z.object(pluginFields));
const configuration = z.preprocess(asGo, z.object({ ...pluginFields, plugins: z.array(z.unknown()).catch([]) }));

type Plugin = z.infer<typeof plugin>;

/** The name for an empty `master`, which means the interface of the host's default route. */
const ofDefaultRoute = 'interface of the default route';

/** Returns a NIC's host interface ('' if unknown) and VLAN (0 if none), by plugin. */
const domains: Readonly<Record<string, (plugin: Plugin, resource: string) => readonly [name: string, vlan: number]>> = {
  macvlan: ({ master }) => [master || ofDefaultRoute, 0],
  ipvlan: ({ master }) => [master || ofDefaultRoute, 0],
  vlan: ({ master, vlanId: id }) => [master || ofDefaultRoute, id],
  bridge: ({ bridge, vlan }) => [bridge || 'cni0', vlan],
  // Identifies the card by the device plugin's resource.
  sriov: ({ master, vlan }, resource) => [master || ofResource(resource), vlan],
  'host-device': ({ device }, resource) => [device || ofResource(resource), 0],
};

const ofResource = (resource: string): string => (resource === '' ? '' : `resource ${resource}`);

/**
 * Returns the broadcast domain as a canonical text; undefined if it is unknown.
 * @param config one plugin, or a list whose first known plugin makes the NIC
 * @param resource the device plugin's resource that the network names; "" if it names none
 */
export function broadcastDomainOf(config: string, resource = ''): string | undefined {
  const main = config.length > networkLimits.configLength ? undefined : mainPlugin(config);
  if (!main || main.linkInContainer || !Object.hasOwn(domains, main.type)) return undefined;
  const [name, vlan] = domains[main.type]?.(main, resource) ?? ['', 0];
  if (name === '') return undefined;
  const { base, vlans } = splitVlans(name);
  const all = vlan === 0 ? vlans : [...vlans, vlan];
  return all.length === 0 ? base : `${base}, VLAN ${all.join('.')}`;
}

function mainPlugin(config: string): Plugin | undefined {
  let raw: unknown;
  try {
    raw = JSON.parse(config);
  } catch {
    return undefined;
  }
  const parsed = checkShape(configuration, raw);
  if (!parsed.success) return undefined;
  if (parsed.data.type !== '') return parsed.data;
  for (const each of parsed.data.plugins) {
    const candidate = checkShape(plugin, each);
    if (candidate.success && Object.hasOwn(domains, candidate.data.type)) return candidate.data;
  }
  return undefined;
}

/** Splits the name of a VLAN interface. Linux names VLAN 100 of eth1 "eth1.100", by convention. */
function splitVlans(name: string): { readonly base: string; readonly vlans: readonly number[] } {
  const [, base = name, digits = ''] = /^([^.\s]+)((?:\.[1-9]\d{0,3})+)$/.exec(name) ?? [];
  const vlans = digits.split('.').slice(1).map(Number);
  return vlans.every((id) => id <= 4094) ? { base, vlans } : { base: name, vlans: [] };
}

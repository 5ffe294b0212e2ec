/**
 * On which wire (layer-2 network) a CNI configuration puts a NIC, as far as the configuration tells: a host interface and a VLAN.
 * Two networks on one wire reach each other, whatever plugin makes their NICs. Pure.
 *
 * What it cannot tell: names that differ for one wire (a bond and its member, a VLAN interface that is not called
 * "<parent>.<id>"), and one name that stands for different wires on different nodes.
 */
import { z } from 'zod';
import { networkLimits } from '../limits.ts';

const vlanId = z.number().int().min(0).max(4094).catch(0);
const plugin = z.object({
  type: z.string().catch(''),
  master: z.string().catch(''),
  bridge: z.string().catch(''),
  device: z.string().catch(''),
  vlan: vlanId,
  vlanId,
  linkInContainer: z.boolean().catch(false),
});
const configuration = plugin.extend({ plugins: z.array(z.unknown()).catch([]) });

type Plugin = z.infer<typeof plugin>;

/** What an empty `master` means: the interface that the host's default route uses. */
const ofDefaultRoute = 'interface of the default route';

/** By plugin: the host interface that carries the NIC ('': not known), and its VLAN on it (0: none). */
const wires: Readonly<Record<string, (plugin: Plugin, resource: string) => readonly [name: string, vlan: number]>> = {
  macvlan: ({ master }) => [master || ofDefaultRoute, 0],
  ipvlan: ({ master }) => [master || ofDefaultRoute, 0],
  vlan: ({ master, vlanId: id }) => [master || ofDefaultRoute, id],
  bridge: ({ bridge, vlan }) => [bridge || 'cni0', vlan],
  // Which card it is stands in the device plugin's resource.
  sriov: ({ master, vlan }, resource) => [master || ofResource(resource), vlan],
  'host-device': ({ device }, resource) => [device || ofResource(resource), 0],
};

const ofResource = (resource: string): string => (resource === '' ? '' : `resource ${resource}`);

/**
 * The wire of a configuration (one plugin, or a list whose first known plugin makes the NIC), as a canonical text for comparison and
 * for people; undefined where it cannot be told.
 * @param resource the device plugin's resource that the network names, "" for none
 */
export function wireOf(config: string, resource = ''): string | undefined {
  const made = config.length > networkLimits.configLength ? undefined : mainPlugin(config);
  if (!made || made.linkInContainer || !Object.hasOwn(wires, made.type)) return undefined;
  const place = wires[made.type]?.(made, resource);
  if (!place || place[0] === '') return undefined;
  const [name, vlan] = place;
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
  const parsed = configuration.safeParse(raw);
  if (!parsed.success) return undefined;
  if (parsed.data.type !== '') return parsed.data;
  for (const each of parsed.data.plugins) {
    const one = plugin.safeParse(each);
    if (one.success && Object.hasOwn(wires, one.data.type)) return one.data;
  }
  return undefined;
}

/** "eth1.100" is VLAN 100 of eth1, by the convention of Linux. */
function splitVlans(name: string): { readonly base: string; readonly vlans: readonly number[] } {
  const [, base = name, digits = ''] = /^([^.\s]+)((?:\.[1-9]\d{0,3})+)$/.exec(name) ?? [];
  const vlans = digits.split('.').slice(1).map(Number);
  return vlans.every((id) => id <= 4094) ? { base, vlans } : { base: name, vlans: [] };
}

/** What a NetworkAttachmentDefinition is to us, from its CNI configuration. */
import { z } from 'zod';
import type { NetworkDefinition } from '../kubernetes/objects.ts';
import { networkLimits, shown, tooMany } from '../limits.ts';

export type Network =
  /** Another plugin makes the NIC, we give its addresses; or (`ovn`) the NIC is Kube-OVN's own type. */
  | {
      readonly kind: 'ipam' | 'ovn';
      /** "<name>.<namespace>", with ".ovn" behind it for kind `ovn`: from the object's own name, whatever it says inside. */
      readonly provider: string;
      /** What the plugin will say on the node; "" if the configuration holds none. */
      readonly configured: string;
    }
  /** Somebody else's; `reason` says why. */
  | { readonly kind: 'other'; readonly reason: string }
  /** Without configuration: no plugin can be called for it. */
  | { readonly kind: 'empty' }
  /** Unreadable; `problem` says where. */
  | { readonly kind: 'broken'; readonly problem: string };

const ourType = 'kube-ovn';

const plugin = z.object({
  type: z.string().optional(),
  provider: z.string().optional(),
  ipam: z.object({ type: z.string().optional(), provider: z.string().optional() }).optional(),
});
const configuration = plugin.extend({ plugins: z.array(plugin).optional() });

type Plugin = z.infer<typeof plugin>;

/** Reads a single configuration or a list of plugins. */
export function networkOf({
  namespace,
  name,
  config,
  problem,
}: Pick<NetworkDefinition, 'namespace' | 'name' | 'config' | 'problem'>): Network {
  if (problem !== undefined) return { kind: 'broken', problem };
  if (config.trim() === '') return { kind: 'empty' };
  const parsed = parse(config);
  if (typeof parsed === 'string') return { kind: 'broken', problem: parsed };
  const plugins = parsed.type ? [parsed] : (parsed.plugins ?? []);
  if (plugins.length === 0)
    return { kind: 'broken', problem: `its spec.config must have the 'type' or 'plugin' field` };

  const many = tooMany('its spec.config', plugins, { most: networkLimits.plugins, unit: 'plugins' });
  if (many !== undefined) return { kind: 'broken', problem: many };

  const main = plugins.find(({ type }) => type === ourType);
  if (main) return { kind: 'ovn', provider: `${name}.${namespace}.ovn`, configured: main.provider ?? '' };
  const ipam = plugins.find((each) => each.ipam?.type === ourType)?.ipam;
  if (ipam) return { kind: 'ipam', provider: `${name}.${namespace}`, configured: ipam.provider ?? '' };
  return { kind: 'other', reason: `its addresses come from ${ipamOf(plugins)}, not from ${ourType}` };
}

function ipamOf(plugins: readonly Plugin[]): string {
  const types = plugins.flatMap(({ ipam }) => (ipam?.type ? [ipam.type] : []));
  return types.length > 0 ? shown(types.join(', ')) : 'no IPAM plugin';
}

function parse(config: string): z.infer<typeof configuration> | string {
  let raw: unknown;
  try {
    raw = JSON.parse(config);
  } catch (error) {
    return `its spec.config is no valid JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
  const parsed = configuration.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `its spec.config is no CNI configuration: ${issue?.path.join('.') || 'at the top'}: ${issue?.message ?? 'malformed'}`;
}

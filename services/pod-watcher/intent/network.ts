/** What a NetworkAttachmentDefinition is to us, from its CNI configuration. */
import { z } from 'zod';
import { record } from '../../../lib/raw.ts';
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
      /** How a MAC that a Pod asks for gets into the CNI result. */
      readonly macSupport: MacSupport;
    }
  /** Somebody else's; `reason` says why. */
  | { readonly kind: 'other'; readonly reason: string }
  /** Without configuration: no plugin can be called for it. */
  | { readonly kind: 'empty' }
  /** Unreadable; `problem` says where. */
  | { readonly kind: 'broken'; readonly problem: string };

/**
 * `chained`: kube-ovn behind the plugin that makes the NIC corrects the result. `capability`: that plugin sets a MAC that stands
 * in the networks annotation. `own`: the NIC is Kube-OVN's. `none`: the result has the MAC that the link was born with.
 */
export type MacSupport = 'chained' | 'capability' | 'own' | 'none';

const ourType = 'kube-ovn';

const plugin = z.object({
  type: z.string().optional(),
  provider: z.string().optional(),
  ipam: z.object({ type: z.string().optional(), provider: z.string().optional() }).optional(),
  capabilities: z.object({ mac: z.unknown() }).optional().catch(undefined),
});
const configuration = plugin.extend({ plugins: z.array(plugin).optional() });

type Plugin = z.infer<typeof plugin>;
type Definition = Pick<NetworkDefinition, 'namespace' | 'name' | 'config' | 'problem'>;

/** What was read, for all that look at the same object. */
const read = new WeakMap<Definition, Network>();

/** Reads a single configuration or a list of plugins; each object once. */
export function networkOf(definition: Definition): Network {
  const known = read.get(definition) ?? readNetwork(definition);
  read.set(definition, known);
  return known;
}

/** Whether two states of an object are one network on one wire: nothing needs to be read again. */
export function isSameNetwork(before: NetworkDefinition | undefined, after: NetworkDefinition): boolean {
  return before?.config === after.config && before.problem === after.problem && before.resource === after.resource;
}

function readNetwork({ namespace, name, config, problem }: Definition): Network {
  if (problem !== undefined) return { kind: 'broken', problem };
  if (config.trim() === '') return { kind: 'empty' };
  const parsed = parse(config);
  if (typeof parsed === 'string') return { kind: 'broken', problem: parsed };
  const plugins = parsed.type ? [parsed] : (parsed.plugins ?? []);
  const [main] = plugins;
  if (!main) return { kind: 'broken', problem: `its spec.config must have the 'type' or 'plugin' field` };

  // The first plugin makes the NIC. Behind another one, ours corrects the result.
  if (main.type === ourType) {
    const provider = `${name}.${namespace}.ovn`;
    return { kind: 'ovn', provider, configured: main.provider ?? '', macSupport: 'own' };
  }
  const ipam = plugins.find((each) => each.ipam?.type === ourType)?.ipam;
  if (ipam) {
    const provider = `${name}.${namespace}`;
    if (namespace === 'ovn' && name.includes('.')) return { kind: 'broken', problem: ambiguous(provider) };
    return { kind: 'ipam', provider, configured: ipam.provider ?? '', macSupport: macSupportOf(plugins) };
  }
  return { kind: 'other', reason: `its addresses come from ${ipamOf(plugins)}, not from ${ourType}` };
}

/** The allocator tells the network of a NIC by its provider. */
const ambiguous = (provider: string): string =>
  `its provider ${JSON.stringify(provider)} reads as that of a Kube-OVN-type NIC: give it a name without a dot`;

function macSupportOf([main, ...behind]: readonly Plugin[]): MacSupport {
  if (behind.some(({ type, ipam }) => type === ourType && ipam === undefined)) return 'chained';
  return main?.capabilities?.mac === true ? 'capability' : 'none';
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
  const many = tooMany('its spec.config', pluginsIn(raw), { most: networkLimits.plugins, unit: 'plugins' });
  if (many !== undefined) return many;
  const parsed = configuration.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `its spec.config is no CNI configuration: ${issue?.path.join('.') || 'at the top'}: ${issue?.message ?? 'malformed'}`;
}

/** Before anything is known of them: an issue for each of thousands takes long to write. */
function pluginsIn(raw: unknown): readonly unknown[] {
  const { plugins } = record(raw);
  return Array.isArray(plugins) ? plugins : [];
}

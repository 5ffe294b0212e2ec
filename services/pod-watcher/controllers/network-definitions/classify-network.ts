/** Classifies a NetworkAttachmentDefinition: served here, served by another plugin, or broken. */
import * as z from 'zod';
import { errorMessage } from '../../../../lib/errors.ts';
import {
  ovn4nfvProvider,
  kubeOvnType,
  servedIpamTypes,
  servedKind,
} from '../../../../lib/kubernetes/served-network.ts';
import { goFields } from '../../../../lib/go-fields.ts';
import { asRecord } from '../../../../lib/kubernetes/untyped-json.ts';
import type { NetworkDefinition } from '../../kubernetes/objects/network-definition.ts';
import { networkLimits, textLimits, truncate, tooMany } from '../../limits.ts';
import { keyOf, type Informer } from '../../../../lib/kubernetes/client/informer.ts';
import { checkShape } from '../../../../lib/check-shape.ts';

/** A network whose addresses come from the ledger. */
export interface ServedNetwork {
  /** `ipam`: another plugin makes the NIC. `ovn`: the NIC is of Kube-OVN's own type. */
  readonly kind: 'ipam' | 'ovn';
  /** The provider "<name>.<namespace>[.ovn]", by the object's name, not by its configuration. */
  readonly provider: string;
  /** The provider that the plugin requests on the node; "" if the configuration has none. */
  readonly configuredProvider: string;
  readonly macSupport: MacSupport;
  /** The `name` in its configuration; absent: Multus uses the object's name. */
  readonly configuredName?: string;
}

export type ClassifiedNetwork =
  | ServedNetwork
  /** A network whose ADD makes all NICs of the Pod's OVN4NFV request. */
  | { readonly kind: 'ovn4nfv' }
  /** A network whose addresses come from another plugin. */
  | { readonly kind: 'other'; readonly reason: string }
  /** A network without a configuration, for which no plugin can be called. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'broken'; readonly problem: string };

/**
 * The way of a requested MAC into the CNI result. `chained`: kube-ovn, chained behind the plugin
 * that makes the NIC, corrects the result. `capability`: that plugin sets the MAC of the networks
 * annotation. `own`: the NIC is Kube-OVN's. `none`: the result shows the link's original MAC.
 */
export type MacSupport = 'chained' | 'capability' | 'own' | 'none';

const ipamFields = { type: z.string().optional(), provider: z.string().optional() };
const pluginFields = {
  ...ipamFields,
  ipam: z.preprocess(goFields(Object.keys(ipamFields)), z.object(ipamFields)).optional(),
  capabilities: z.object({ mac: z.unknown() }).optional().catch(undefined),
};
const asGo = goFields(Object.keys(pluginFields));
const plugin = z.preprocess(asGo, z.object(pluginFields));
/** Parses names as Go does, except `name` and `plugins` of a list, which libcni requires. */
const configuration = z.preprocess(
  asGo,
  z.object({
    ...pluginFields,
    name: z.string().max(textLimits.nameLength).optional().catch(undefined),
    plugins: z.array(plugin).nullish(),
  }),
);

type Plugin = z.infer<typeof plugin>;
type Definition = Pick<NetworkDefinition, 'namespace' | 'name' | 'config' | 'problem' | 'besideKubeOvn'>;

const cache = new WeakMap<Definition, ClassifiedNetwork>();

/** Classifies a single configuration or a list of plugins. Parses each object once. */
export function classifyNetwork(definition: Definition): ClassifiedNetwork {
  const network = cache.get(definition) ?? parseDefinition(definition);
  cache.set(definition, network);
  return network;
}

/** Whether two states of an object are the same network in the same broadcast domain. */
export function isSameNetwork(before: NetworkDefinition | undefined, after: NetworkDefinition): boolean {
  return before?.config === after.config && before.problem === after.problem && before.resource === after.resource;
}

function parseDefinition({ namespace, name, config, problem, besideKubeOvn }: Definition): ClassifiedNetwork {
  if (problem !== undefined) return { kind: 'broken', problem };
  if (config.trim() === '') return { kind: 'empty' };
  const parsed = parseConfiguration(config);
  if (typeof parsed === 'string') return { kind: 'broken', problem: parsed };
  const plugins = parsed.type ? [parsed] : (parsed.plugins ?? []);
  const [main] = plugins;
  if (!main) return { kind: 'broken', problem: `its spec.config must have the 'type' or 'plugin' field` };

  const named = parsed.name ? { configuredName: parsed.name } : {};
  const served = servedKind(plugins, besideKubeOvn);
  if (served?.kind === 'ovn4nfv') return { kind: 'ovn4nfv' };
  if (served?.kind === 'ovn') {
    const provider = `${name}.${namespace}.ovn`;
    if (provider === ovn4nfvProvider) return { kind: 'broken', problem: reservedProvider };
    return { kind: 'ovn', provider, configuredProvider: main.provider ?? '', macSupport: 'own', ...named };
  }
  if (served) {
    const provider = `${name}.${namespace}`;
    if (namespace === 'ovn' && name.includes('.')) return { kind: 'broken', problem: ambiguousProvider(provider) };
    const macSupport = macSupportOf(plugins);
    return { kind: 'ipam', provider, configuredProvider: served.plugin.ipam?.provider ?? '', macSupport, ...named };
  }
  return {
    kind: 'other',
    reason: `its addresses come from ${ipamOf(plugins)}, not from ${servedIpamTypes(besideKubeOvn)[0]}`,
  };
}

const reservedProvider = `its provider ${ovn4nfvProvider} is reserved for the requests of OVN4NFV: give it another name`;

/** Reports an ambiguous provider, from which the allocator derives the network of a NIC. */
const ambiguousProvider = (provider: string): string =>
  `its provider ${JSON.stringify(provider)} is ambiguous with that of a Kube-OVN-type NIC: give it a name without a dot`;

function macSupportOf([main, ...behind]: readonly Plugin[]): MacSupport {
  if (behind.some(({ type, ipam }) => type === kubeOvnType && ipam === undefined)) return 'chained';
  return main?.capabilities?.mac === true ? 'capability' : 'none';
}

function ipamOf(plugins: readonly Plugin[]): string {
  const types = plugins.flatMap(({ ipam }) => (ipam?.type ? [ipam.type] : []));
  return types.length > 0 ? truncate(types.join(', ')) : 'no IPAM plugin';
}

function parseConfiguration(config: string): z.infer<typeof configuration> | string {
  let raw: unknown;
  try {
    raw = JSON.parse(config);
  } catch (error) {
    return `its spec.config is not valid JSON: ${errorMessage(error)}`;
  }
  const many = tooMany('its spec.config', pluginsIn(raw), { most: networkLimits.plugins, unit: 'plugins' });
  if (many !== undefined) return many;
  const parsed = checkShape(configuration, raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `its spec.config is not a CNI configuration: ${issue?.path.join('.') || 'at the top'}: ${issue?.message ?? 'malformed'}`;
}

/** Counts plugins before validation, which takes long for thousands of invalid plugins. */
function pluginsIn(raw: unknown): readonly unknown[] {
  const { plugins } = asRecord(raw);
  return Array.isArray(plugins) ? plugins : [];
}

/** The parsed NetworkAttachmentDefinitions. Each is parsed once, not for every Pod. */
export class NetworkDefinitionCache {
  readonly #networks = new Map<string, ClassifiedNetwork>();

  /** @param onChange called with the "namespace/name" of each changed or deleted definition */
  constructor(objects: Pick<Informer<NetworkDefinition>, 'subscribe'>, onChange: (key: string) => void) {
    objects.subscribe((change) => {
      if (change.kind === 'listed') return;
      if (change.kind === 'present' && isSameNetwork(change.before, change.object)) return;
      const key = keyOf(change.object);
      if (change.kind === 'present') this.#networks.set(key, classifyNetwork(change.object));
      else this.#networks.delete(key);
      onChange(key);
    });
  }

  readonly get = (key: string): ClassifiedNetwork | undefined => this.#networks.get(key);
}

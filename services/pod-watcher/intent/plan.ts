/**
 * What a Pod wants → what to ask the allocator for, or why it cannot be asked. Pure: looks at what it is given.
 *
 * Nothing is asked for until all can be: one attachment that is ours and impossible keeps all of them waiting. One that is
 * somebody else's is left out, and said so.
 */
import type { Input } from '../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../proto/ipledger.ts';
import type { Pod } from '../kubernetes/objects.ts';
import { type Selection, selections } from './attachments.ts';
import type { Network } from './network.ts';
import { requestOf, type Wanted } from './request.ts';
import { ok, problem, type Result } from './result.ts';

/** What of the world decides. */
export interface Sight {
  /** The NetworkAttachmentDefinition "namespace/name"; undefined if there is none. */
  network(key: string): Network | undefined;
  subnets: {
    serves(name: string): boolean;
    servingProvider(provider: string): string[];
    whyNot(provider: string): string;
    whyNotServing(name: string): string;
  };
}

export interface Plan {
  /** All of the Pod's attachments that are ours; empty when there is a problem, or nothing is ours. */
  readonly attachments: readonly Input<AttachmentRequest>[];
  /** Why nothing can be asked for. */
  readonly problems: readonly Problem[];
  /** Which attachments are not ours, and why. */
  readonly notes: readonly string[];
  /** What to watch for a change of: "network:<namespace>/<name>", "provider:<provider>", "subnet:<name>". */
  readonly topics: ReadonlySet<string>;
}

export interface Problem {
  /** `request`: the Pod's own annotations are wrong. `world`: something is missing, or wrong, beside the Pod. */
  readonly about: 'request' | 'world';
  readonly text: string;
}

/** Plans for one Pod. */
export function planFor(pod: Pod, sight: Sight): Plan {
  const plan = {
    attachments: [] as Input<AttachmentRequest>[],
    problems: [] as Problem[],
    notes: [] as string[],
    topics: new Set<string>(),
  };
  const selected = selections(pod);
  if (!selected.ok) return { ...plan, problems: [{ about: 'request', text: selected.problem }] };
  const ordinals = new Map<string, number>();
  for (const selection of selected.value) {
    const key = `${selection.namespace}/${selection.name}`;
    plan.topics.add(`network:${key}`);
    const network = sight.network(key);
    if (network?.kind === 'other') plan.notes.push(`${key} is not served here: ${network.reason}`);
    else if (!network) plan.problems.push(missing(key));
    else if (network.kind === 'broken') plan.problems.push(broken(key, network.problem));
    else {
      const ordinal = ordinals.get(network.provider) ?? 0;
      ordinals.set(network.provider, ordinal + 1);
      plan.topics.add(`provider:${network.provider}`);
      planAttachment({ pod, selection, provider: network.provider, ordinal }, { network, sight, plan });
    }
  }
  return plan.problems.length > 0 ? { ...plan, attachments: [] } : plan;
}

interface Planning {
  readonly network: Extract<Network, { provider: string }>;
  readonly sight: Sight;
  readonly plan: { attachments: Input<AttachmentRequest>[]; problems: Problem[]; topics: Set<string> };
}

function planAttachment(wanted: Omit<Wanted, 'subnets'>, { network, sight, plan }: Planning): void {
  const { provider } = network;
  const key = `${provider}.kubernetes.io/logical_switch`;
  const named = wanted.pod.annotations[key]?.trim() ?? '';
  if (named !== '') plan.topics.add(`subnet:${named}`);
  const subnets = named === '' ? subnetsOf(provider, sight) : namedSubnet(named, key, sight);
  if (!subnets.ok) {
    plan.problems.push({ about: 'world', text: subnets.problem });
    return;
  }
  for (const name of subnets.value) plan.topics.add(`subnet:${name}`);
  const mismatch = configuredOtherwise(wanted.selection, network);
  if (mismatch) plan.problems.push(mismatch);
  const request = requestOf({ ...wanted, subnets: subnets.value });
  if (request.ok) plan.attachments.push(request.value);
  else plan.problems.push({ about: 'request', text: request.problem });
}

/** The Subnet that the Pod names goes before those that serve the provider. */
function namedSubnet(name: string, key: string, { subnets }: Sight): Result<string[]> {
  return subnets.serves(name)
    ? ok([name])
    : problem(`annotation ${key}: ${subnets.whyNotServing(name)}: create or correct it`);
}

function subnetsOf(provider: string, { subnets }: Sight): Result<string[]> {
  const serving = subnets.servingProvider(provider);
  if (serving.length > 0) return ok(serving);
  const why = subnets.whyNot(provider) || `create a Subnet with spec.provider ${JSON.stringify(provider)}`;
  return problem(`provider ${provider} is not bound to any subnet: ${why}`);
}

function missing(key: string): Problem {
  return {
    about: 'world',
    text: `there is no NetworkAttachmentDefinition ${key}: create it, or correct the Pod's networks annotation`,
  };
}

function broken(key: string, what: string): Problem {
  return { about: 'world', text: `NetworkAttachmentDefinition ${key}: ${what}: correct it` };
}

/** On the node the plugin asks for what the configuration says; if that is another provider, each ADD would fail. */
function configuredOtherwise(
  { namespace, name }: Selection,
  { provider, configured }: Planning['network'],
): Problem | undefined {
  if (configured === provider) return undefined;
  const says = configured === '' ? 'no provider' : `provider ${JSON.stringify(configured)}`;
  return {
    about: 'world',
    text: `NetworkAttachmentDefinition ${namespace}/${name}: its configuration says ${says}, and must say ${JSON.stringify(provider)}: correct it`,
  };
}

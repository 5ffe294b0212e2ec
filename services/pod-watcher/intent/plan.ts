/**
 * What a Pod wants → what to ask the allocator for, or why it cannot be asked. Pure: looks at what it is given.
 *
 * Nothing is asked for until all can be: one attachment that is ours and impossible keeps all of them waiting. One that is
 * somebody else's is left out, and said so. One that the Pod holds already is not asked for again, whatever has become of its
 * network; one that it holds and names no longer is told.
 */
import type { Input } from '../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../proto/ipledger.ts';
import { hasAllocatedAnnotation, type Pod, vipAnnotation } from '../kubernetes/objects.ts';
import { type Selection, selections } from './attachments.ts';
import { type Held, matchHeld } from './matching.ts';
import type { Network } from './network.ts';
import { ownerOf } from './owner.ts';
import { primaryOf, primarySelection } from './primary.ts';
import { annotation, countsMembers, requestOf, type Wanted } from './request.ts';
import { ok, problem, type Result } from './result.ts';
import type { Sight } from './sight.ts';
import { primaryProvider } from './subnets.ts';
import { withVip } from './vip.ts';

export interface Plan<H extends Held = Held> {
  /** The Pod's attachments that are ours and that it does not hold yet; empty when there is a problem. */
  readonly attachments: readonly Input<AttachmentRequest>[];
  /** What the Pod holds and does not ask for any more; empty when its annotation cannot be read. */
  readonly removed: readonly H[];
  /** Why nothing can be asked for. */
  readonly problems: readonly Problem[];
  /** Which attachments are not ours, and why. */
  readonly notes: readonly string[];
  /** What will be wrong on the node with attachments that are asked for all the same. */
  readonly warnings: readonly string[];
  /** What to watch for a change of: "network:<namespace>/<name>", "provider:<provider>", "subnet:<name>", "pool:<name>", "vip:<name>". */
  readonly topics: ReadonlySet<string>;
}

export interface Problem {
  /** `request`: the Pod's own annotations are wrong. `world`: something is missing, or wrong, beside the Pod. */
  readonly about: 'request' | 'world';
  readonly text: string;
}

/** A plan in the making. */
interface Draft {
  readonly attachments: Input<AttachmentRequest>[];
  readonly problems: Problem[];
  readonly notes: string[];
  readonly warnings: string[];
  readonly topics: Set<string>;
}

/**
 * Plans for one Pod.
 * @param held what its uid holds, in the order of ordinals.
 */
export function planFor<H extends Held>(pod: Pod, sight: Sight, held: readonly H[] = []): Plan<H> {
  const draft: Draft = { attachments: [], problems: [], notes: [], warnings: [], topics: new Set() };
  const selected = selections(pod);
  if (!selected.ok) return { ...draft, removed: [], problems: [{ about: 'request', text: selected.problem }] };
  const { each, unnamed } = matchHeld(selected.value, held);
  const removed = unnamed.filter((holding) => isOurs(holding, sight));
  const hasMain = selected.value.some(({ main }) => main);
  if (!hasMain && held.length === 0 && isStarting(pod)) planPrimary(pod, sight, draft);
  for (const [index, selection] of selected.value.entries()) {
    const { ordinal = 0, held: own } = each[index] ?? {};
    if (!own) planSelection({ pod, selection, ordinal, several: isSeveral(selection, selected.value) }, sight, draft);
  }
  if (draft.problems.length === 0) planVip(pod, sight, draft);
  return { ...draft, removed, attachments: draft.problems.length > 0 ? [] : draft.attachments };
}

/** What is held of a network that is not there, or not ours, somebody else may have asked for: that is not taken away. */
function isOurs({ provider }: Held, sight: Sight): boolean {
  return networkNamesOf(provider).some((name) => {
    const network = sight.network(name);
    return network !== undefined && 'provider' in network && network.provider === provider;
  });
}

/** "namespace/name" of the networks that a provider may be of: "net.ovn" is one in namespace `ovn`, "net.default.ovn" most likely another. */
function networkNamesOf(provider: string): string[] {
  const stems = [provider, ...(provider.endsWith('.ovn') ? [provider.slice(0, -'.ovn'.length)] : [])];
  return stems.map(
    (stem) => `${stem.slice(stem.lastIndexOf('.') + 1)}/${stem.slice(0, Math.max(stem.lastIndexOf('.'), 0))}`,
  );
}

/** A NIC of the primary network is made once, at a Pod's start. Who shows what it was given, and holds nothing, is given it again. */
const isStarting = ({ phase, annotations }: Pod): boolean =>
  phase === '' || phase === 'Pending' || hasAllocatedAnnotation(annotations);

const isSeveral = ({ namespace, name }: Selection, all: readonly Selection[]): boolean =>
  all.filter((other) => other.namespace === namespace && other.name === name).length > 1;

function planPrimary(pod: Pod, sight: Sight, draft: Draft): void {
  const primary = primaryOf(pod, sight, draft.topics);
  if (!primary) return;
  if (!primary.ok) {
    draft.problems.push({ about: 'world', text: primary.problem });
    return;
  }
  const { subnets, pool } = primary.value;
  const wanted = { pod, selection: primarySelection, provider: primaryProvider, ordinal: 0, subnets };
  addRequest(wanted, sight, draft, pool);
}

interface Selected {
  readonly pod: Pod;
  readonly selection: Selection;
  readonly ordinal: number;
  /** Whether the Pod selects this network more than once. */
  readonly several: boolean;
}

function planSelection({ pod, selection, ordinal, several }: Selected, sight: Sight, draft: Draft): void {
  const key = `${selection.namespace}/${selection.name}`;
  draft.topics.add(`network:${key}`);
  const network = sight.network(key);
  if (network?.kind === 'other') draft.notes.push(`${key} is not served here: ${network.reason}`);
  else if (!network) draft.problems.push(missing(key));
  else if (network.kind === 'broken') draft.problems.push(broken(key, network.problem));
  else {
    const ownKeys = network.kind === 'ovn' && several && selection.interface !== '';
    planAttachment({ pod, selection, provider: network.provider, ordinal, ownKeys }, { network, sight, draft });
  }
}

interface Planning {
  readonly network: Extract<Network, { provider: string }>;
  readonly sight: Sight;
  readonly draft: Draft;
}

function planAttachment(wanted: Omit<Wanted, 'subnets'>, { network, sight, draft }: Planning): void {
  const { provider } = network;
  draft.topics.add(`provider:${provider}`);
  const [key, named] = annotation({ ...wanted, subnets: [] }, 'logical_switch');
  if (named !== '') draft.topics.add(`subnet:${named}`);
  const subnets = named === '' ? subnetsOf(provider, sight) : namedSubnet(named, key, { wanted, network, sight });
  if (!subnets.ok) {
    draft.problems.push({ about: 'world', text: subnets.problem });
    return;
  }
  for (const name of subnets.value) draft.topics.add(`subnet:${name}`);
  const mismatch = configuredOtherwise(wanted.selection, network);
  if (mismatch) draft.problems.push(mismatch);
  addRequest({ ...wanted, subnets: subnets.value }, sight, draft);
  const asked = draft.attachments.at(-1);
  const unseen =
    asked?.provider === provider && asked.ordinal === wanted.ordinal ? unseenMac(wanted, network, asked) : '';
  if (unseen !== '') draft.warnings.push(unseen);
}

/** The agent sets a MAC on the link after the plugin that makes the NIC noted the one that the link was born with; '' where that does no harm. */
function unseenMac(
  { selection }: Omit<Wanted, 'subnets'>,
  { macSupport }: Planning['network'],
  { mac = '' }: Input<AttachmentRequest>,
): string {
  if (mac === '' || macSupport === 'own' || macSupport === 'chained') return '';
  if (macSupport === 'capability' && selection.mac !== '') return '';
  const key = `${selection.namespace}/${selection.name}`;
  const remedy =
    macSupport === 'capability'
      ? `Give "mac": "${mac}" beside the network's name in the networks annotation`
      : `Give its plugin "capabilities": {"mac": true} and the Pod "mac": "${mac}" beside the network's name, or chain {"type": "kube-ovn"} behind its plugin`;
  return `${key}: the link gets MAC ${mac}, but the CNI result and network-status show another, and CHECK fails: the plugin that makes the NIC is not told the MAC. ${remedy}`;
}

/** @param pool from which it is served when the Pod names neither address nor pool. */
function addRequest(wanted: Wanted, sight: Sight, draft: Draft, pool = ''): void {
  const owner = ownerOf(wanted.pod);
  const firstMember = owner && countsMembers(wanted) ? sight.ordinalStart(owner, wanted.pod.namespace) : 0;
  if (firstMember === undefined) {
    draft.problems.push({ about: 'world', text: `StatefulSet ${owner?.name ?? ''} is not known yet` });
    return;
  }
  const request = requestOf({ ...wanted, firstMember });
  if (!request.ok) {
    draft.problems.push({ about: 'request', text: request.problem });
    return;
  }
  const { candidates = [], pool: named = '' } = request.value;
  const drawn = named !== '' || candidates.length > 0 ? named : pool;
  if (drawn !== '') draft.topics.add(`pool:${drawn}`);
  const subnets = drawn === '' ? ok(wanted.subnets) : subnetsOfPool(drawn, wanted, sight);
  if (subnets.ok) draft.attachments.push({ ...request.value, subnets: subnets.value, pool: drawn });
  else draft.problems.push({ about: 'world', text: subnets.problem });
}

/** An IPPool is of one Subnet; that must be one of those that serve the attachment. */
function subnetsOfPool(pool: string, wanted: Wanted, { pools }: Sight): Result<readonly string[]> {
  const [key] = annotation(wanted, 'ip_pool');
  const subnet = pools.subnetOf(pool);
  if (subnet === undefined) return problem(`annotation ${key}: ${pools.whyNot(pool)}: create or correct it`);
  if (wanted.subnets.includes(subnet)) return ok([subnet]);
  return problem(
    `annotation ${key}: IPPool ${pool} is of Subnet ${subnet}, and provider ${wanted.provider} is served from ${wanted.subnets.join(', ')}: name a pool of that`,
  );
}

function planVip(pod: Pod, sight: Sight, draft: Draft): void {
  const name = pod.annotations[vipAnnotation]?.trim() ?? '';
  if (name === '' || draft.attachments.length === 0) return;
  draft.topics.add(`vip:${name}`);
  const served = withVip(name, sight.vip(name), draft.attachments);
  if (served.ok) draft.attachments.splice(0, Infinity, ...served.value);
  else draft.problems.push({ about: 'world', text: `annotation ${vipAnnotation}: ${served.problem}` });
}

/** The Subnet that the Pod names goes before those that serve the provider. */
function namedSubnet(
  name: string,
  key: string,
  { wanted, network, sight: { subnets } }: Pick<Planning, 'network' | 'sight'> & { wanted: Omit<Wanted, 'subnets'> },
): Result<string[]> {
  if (!subnets.serves(name)) return problem(`annotation ${key}: ${subnets.whyNotServing(name)}: create or correct it`);
  const serves = subnets.providerOf(name);
  if (network.kind === 'ovn' || serves === network.provider) return ok([name]);
  if (serves !== primaryProvider)
    return problem(
      `annotation ${key}: Subnet ${name} serves provider ${serves}: name one of provider ${primaryProvider} or ${network.provider}`,
    );
  if (wanted.selection.main)
    return problem(
      `annotation ${key}: a main NIC of another plugin cannot have its address from Subnet ${name} of provider ${primaryProvider}: give it a Subnet with spec.provider ${JSON.stringify(network.provider)}, or attach the network beside the primary one`,
    );
  return ok([name]);
}

function subnetsOf(provider: string, { subnets }: Sight): Result<string[]> {
  const serving = subnets.servingProvider(provider);
  if (serving.length > 0) return ok(serving);
  const why =
    subnets.whyNot(provider) ||
    `create a Subnet with spec.provider ${JSON.stringify(provider)}, or correct that of the one which is meant for it (kubectl get subnets)`;
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

/**
 * What a Pod wants → what to ask the allocator for, or why it cannot be asked. Pure: looks at what it is given.
 *
 * Nothing is asked for until all can be: one attachment that is ours and impossible keeps all of them waiting. One that is
 * somebody else's is left out, and said so. One that the Pod holds already is not asked for again, whatever has become of its
 * network; one that it holds and names no longer is told.
 */
import type { Input } from '../../../proto/codec.ts';
import type { AttachmentRequest } from '../../../proto/ipledger.ts';
import type { Controller } from '../../../lib/pod-identity.ts';
import { isLauncher } from '../kubernetes/launchers.ts';
import { hasAllocatedAnnotation, type Pod, vipAnnotation } from '../kubernetes/objects.ts';
import { overLimit, podLimits, shown } from '../limits.ts';
import { type Selection, selections } from './attachments.ts';
import { type Held, matchHeld } from './matching.ts';
import type { Network } from './network.ts';
import { emptyNetwork, type Note, notesOnAnnotations, servedElsewhere } from './note.ts';
import { ownerOf } from './owner.ts';
import { primaryOf, primarySelection } from './primary.ts';
import { annotation, countsMembers, type Readings, requestOf, type Wanted } from './request.ts';
import { ok } from './result.ts';
import { namedSubnet, subnetsOf, subnetsOfPool } from './serving.ts';
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
  readonly notes: readonly Note[];
  /** What will be wrong on the node with attachments that are asked for all the same. */
  readonly warnings: readonly string[];
  /** What to watch for a change of: "network:<namespace>/<name>", "provider:<provider>", "subnet:<name>", "pool:<name>", "vip:<name>", "set:<namespace>/<name>" (a StatefulSet). */
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
  readonly notes: Note[];
  readonly warnings: string[];
  readonly topics: Set<string>;
  readonly readings: Readings;
}

/**
 * Plans for one Pod.
 * @param held what its uid holds, in the order of ordinals.
 */
export function planFor<H extends Held>(pod: Pod, sight: Sight, held: readonly H[] = []): Plan<H> {
  const notes = notesOnAnnotations(pod);
  const draft: Draft = { attachments: [], problems: [], notes, warnings: [], topics: new Set(), readings: new Map() };
  if (pod.problems.length > 0) return unreadable(pod.problems);
  if (pod.claims && !isLauncher(pod)) return waitsForOwner(pod.doubt || undecided(pod.claims));
  const selected = selections(pod);
  if (!selected.ok) return unreadable([selected.problem]);
  const { each, unnamed } = matchHeld(selected.value, held);
  const removed = unnamed.filter((holding) => isOurs(holding, sight));
  const hasMain = selected.value.some(({ main }) => main);
  if (!hasMain && held.length === 0 && isStarting(pod)) planPrimary(pod, sight, draft);
  const several = severalOf(selected.value);
  for (const [index, selection] of selected.value.entries()) {
    const { ordinal = 0, held: own } = each[index] ?? {};
    if (!own) planSelection({ pod, selection, ordinal, several: several.has(networkKey(selection)) }, sight, draft);
  }
  if (draft.problems.length === 0) planVip(pod, sight, draft);
  const many = tooManyCandidates(draft.attachments);
  if (many !== undefined) draft.problems.push({ about: 'request', text: many });
  const { attachments, problems, warnings, topics } = draft;
  return { removed, problems, notes, warnings, topics, attachments: problems.length > 0 ? [] : attachments };
}

/** Nothing is asked for and nothing is taken away: what the Pod wants is not known. */
function unreadable(texts: readonly string[]): Plan<never> {
  const problems = texts.map((text): Problem => ({ about: 'request', text }));
  return { ...nothingPlanned, problems };
}

/** Nothing is requested until it is known whether the owner that the Pod names is there. */
const waitsForOwner = (text: string): Plan<never> => ({ ...nothingPlanned, problems: [{ about: 'world', text }] });

const nothingPlanned: Omit<Plan<never>, 'problems'> = {
  attachments: [],
  removed: [],
  notes: [],
  warnings: [],
  topics: new Set(),
};

function tooManyCandidates(attachments: Draft['attachments']): string | undefined {
  const has = attachments.reduce((sum, { candidates = [] }) => sum + candidates.length, 0);
  const limit = { has, most: podLimits.candidatesOfPod, unit: 'addresses to choose from for all its attachments' };
  const remedy = 'shorten the ip_pool annotations, or name an IPPool in them';
  return has > limit.most ? overLimit('the Pod', { ...limit, remedy }) : undefined;
}

const undecided = ({ name, uid }: Controller): string =>
  `whether VirtualMachineInstance ${name} (uid ${uid}), which the Pod names as its controller, is there could not be read yet`;

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

const networkKey = ({ namespace, name }: Selection): string => `${namespace}/${name}`;

/** The networks that are selected more than once. */
function severalOf(all: readonly Selection[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(all.map(networkKey).filter((key) => seen.size === seen.add(key).size));
}

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
  const key = networkKey(selection);
  draft.topics.add(`network:${key}`);
  const network = sight.network(key);
  if (network?.kind === 'other') draft.notes.push(servedElsewhere(key, network.reason));
  else if (network?.kind === 'empty') draft.notes.push(emptyNetwork(key));
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
  const subnets =
    named === ''
      ? subnetsOf(provider, wanted.pod.namespace, sight)
      : namedSubnet(named, key, { wanted, network, sight });
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
  const { namespace } = wanted.pod;
  const owner = countsMembers(wanted) ? ownerOf(wanted.pod) : undefined;
  if (owner) draft.topics.add(`set:${namespace}/${owner.name}`);
  const firstMember = owner ? sight.ordinalStart(owner, namespace) : 0;
  if (firstMember === undefined) {
    draft.problems.push({ about: 'world', text: `StatefulSet ${owner?.name ?? ''} is not known yet` });
    return;
  }
  const request = requestOf({ ...wanted, firstMember, readings: draft.readings });
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

function planVip(pod: Pod, sight: Sight, draft: Draft): void {
  const name = pod.annotations[vipAnnotation]?.trim() ?? '';
  if (name === '' || draft.attachments.length === 0) return;
  draft.topics.add(`vip:${name}`);
  const served = withVip({ name, namespace: pod.namespace }, sight.vip(name), draft.attachments);
  if (served.ok) draft.attachments.splice(0, Infinity, ...served.value);
  else draft.problems.push({ about: 'world', text: `annotation ${vipAnnotation}: ${served.problem}` });
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
  const says = configured === '' ? 'no provider' : `provider ${shown(JSON.stringify(configured))}`;
  return {
    about: 'world',
    text: `NetworkAttachmentDefinition ${namespace}/${name}: its configuration says ${says}, and must say ${JSON.stringify(provider)}: correct it`,
  };
}

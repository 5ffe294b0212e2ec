/**
 * An operator's acceptance of a mass deletion: an annotation on the pod-watcher's Lease. `ipledger
 * accept-mass-deletion` writes it, and the active pod-watcher reads it at each renewal.
 */
import { handoverStateAnnotation } from './leader-election.ts';
import { asRecord, asText, type UntypedJson } from './untyped-json.ts';

export const acceptanceAnnotation = 'ipledger.io/accepted-mass-deletion';

export interface MassDeletionAcceptance {
  /** Identifies the acceptance, so that it is applied only once. */
  readonly id: string;
  /** The most missing Pods to accept as deleted, by namespace, and "*" for all namespaces. */
  readonly pods: Readonly<Record<string, number>>;
  /** The most missing Nodes that are accepted. */
  readonly nodes: number;
  /** The reason, for the record. */
  readonly reason: string;
}

/** The most namespaces, and the longest reason. */
export const acceptanceLimits = { namespaces: 256, reasonLength: 256 } as const;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/**
 * Adds an acceptance to that of the Lease, which may not be completely applied: the next
 * pod-watcher reads only this annotation. Returns `added` if the present one no longer counts.
 */
export function addAcceptance(lease: UntypedJson, added: MassDeletionAcceptance): MassDeletionAcceptance {
  const annotations = asRecord(asRecord(lease['metadata'])['annotations']);
  const { usedAcceptance } = asRecord(parseJson(asText(annotations[handoverStateAnnotation])));
  const earlier = parseAcceptance(asText(annotations[acceptanceAnnotation]));
  if (!earlier || earlier.id === usedAcceptance) return added;
  const pods = Object.entries({ ...added.pods, ...earlier.pods, ...added.pods }).slice(
    0,
    acceptanceLimits.namespaces + 1,
  );
  const reason = [...new Set([added.reason, ...earlier.reason.split('; earlier: ')])].join('; earlier: ');
  return {
    id: added.id,
    pods: Object.fromEntries(pods),
    nodes: Math.max(added.nodes, earlier.nodes),
    reason: reason.slice(0, acceptanceLimits.reasonLength),
  };
}

/** The missing objects that the guard has halted, from the handover state in the Lease. */
export function haltedMassDeletions(lease: UntypedJson): Pick<MassDeletionAcceptance, 'pods' | 'nodes'> {
  const annotations = asRecord(asRecord(lease['metadata'])['annotations']);
  const { vanishedPods, vanishedNodes, haltedNamespaces } = asRecord(
    parseJson(asText(annotations[handoverStateAnnotation])),
  );
  return countsOf({ '*': vanishedPods, ...asRecord(haltedNamespaces) }, vanishedNodes);
}

/** Returns undefined for a text that is not an acceptance. */
export function parseAcceptance(text: string): MassDeletionAcceptance | undefined {
  const { id, pods, nodes, reason } = asRecord(parseJson(text));
  if (asText(id) === '') return undefined;
  return {
    id: asText(id).slice(0, 64),
    ...countsOf(asRecord(pods), nodes),
    reason: asText(reason).slice(0, acceptanceLimits.reasonLength),
  };
}

/** Returns the entries that are counts, up to the limit. */
function countsOf(pods: UntypedJson, nodes: unknown): Pick<MassDeletionAcceptance, 'pods' | 'nodes'> {
  const entries = Object.entries(pods).slice(0, acceptanceLimits.namespaces + 1);
  return {
    pods: Object.fromEntries(entries.filter((entry): entry is [string, number] => isCount(entry[1]))),
    nodes: isCount(nodes) ? nodes : 0,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

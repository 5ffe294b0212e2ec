/**
 * An operator's acceptance of a mass deletion: an annotation of the pod-watcher's Lease. `ipledger
 * accept-mass-deletion` writes it, and the active watcher reads it at each renewal.
 */
import { handoverStateAnnotation } from './leader-election.ts';
import { asRecord, asText, type UntypedJson } from './untyped-json.ts';

export const acceptanceAnnotation = 'ipledger.io/accepted-mass-deletion';

export interface MassDeletionAcceptance {
  /** Identifies it, so that it is applied once. */
  readonly id: string;
  /** Up to how many missing Pods are accepted as deleted: by namespace, and "*" for all. */
  readonly pods: Readonly<Record<string, number>>;
  /** The number of accepted missing Nodes. */
  readonly nodes: number;
  /** The reason, for the record. */
  readonly reason: string;
}

/** The largest number of namespaces, and the longest reason. */
export const acceptanceLimits = { namespaces: 256, reasonLength: 256 } as const;

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

/**
 * Adds an acceptance to the one that the Lease has: the next watcher applies what the annotation
 * has, and the earlier one may not be over. Without an earlier one that counts, returns the new
 * one.
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

/** What is halted: the missing objects that the handover state of the pod-watcher's Lease shows. */
export function haltedMassDeletions(lease: UntypedJson): Pick<MassDeletionAcceptance, 'pods' | 'nodes'> {
  const annotations = asRecord(asRecord(lease['metadata'])['annotations']);
  const { vanishedPods, vanishedNodes, haltedNamespaces } = asRecord(
    parseJson(asText(annotations[handoverStateAnnotation])),
  );
  return countsOf({ '*': vanishedPods, ...asRecord(haltedNamespaces) }, vanishedNodes);
}

/** Returns undefined for a text that is no acceptance. */
export function parseAcceptance(text: string): MassDeletionAcceptance | undefined {
  const { id, pods, nodes, reason } = asRecord(parseJson(text));
  if (asText(id) === '') return undefined;
  return {
    id: asText(id).slice(0, 64),
    ...countsOf(asRecord(pods), nodes),
    reason: asText(reason).slice(0, acceptanceLimits.reasonLength),
  };
}

/** The entries that are counts, up to the limit. */
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

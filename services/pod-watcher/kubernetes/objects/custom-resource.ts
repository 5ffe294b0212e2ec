/** The fields that Kube-OVN's objects have in common. */
import { asNumber, asRecord, asText, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import type { ObjectMeta } from '../../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';

/** An object whose spec becomes part of the ledger: Subnet, IPPool, IP, Vip. */
export interface CustomResource extends ObjectMeta {
  readonly generation: number;
  readonly deleting: boolean;
  readonly finalizers: readonly string[];
  readonly status: UntypedJson;
  /** Unreadable fields, and fields over a limit. A spec with problems must not be applied. */
  readonly problems: readonly string[];
}

/** The list that all objects without finalizers share. */
export const noFinalizers: readonly string[] = Object.freeze([]);

/** @throws Error for an object without name or uid */
export function customResourceOf(metadata: UntypedJson, status: unknown): Omit<CustomResource, 'problems'> {
  const finalizers: unknown = metadata['finalizers'];
  return {
    ...objectMetaOf(metadata),
    generation: asNumber(metadata['generation']) ?? 0,
    deleting: asText(metadata['deletionTimestamp']) !== '',
    finalizers: Array.isArray(finalizers) ? finalizers.map(asText) : noFinalizers,
    status: asRecord(status),
  };
}

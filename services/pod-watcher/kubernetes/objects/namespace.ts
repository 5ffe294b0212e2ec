/** Namespace: its labels, and the Subnets and IPPools of its primary network. */
import { asRecord, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import { namespaceLimits, tooMany } from '../../limits.ts';
import type { ObjectMeta, ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { toLabels } from './label-selector.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';

export interface NamespaceObject extends ObjectMeta {
  readonly labels: Readonly<Record<string, string>>;
  /** The annotations of Kube-OVN and ipledger. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The Subnets that serve the primary network of its Pods, in order of preference. */
  readonly subnets: readonly string[];
  /** The IPPools from which its Pods get addresses of the primary network. */
  readonly pools: readonly string[];
  /** Messages about lists over their limit, which were ignored. */
  readonly problems?: readonly string[];
}

const ownAnnotation = /^(?:ovn\.kubernetes\.io|ipledger\.io)\//;

export const namespaces: ResourceKind<NamespaceObject> = {
  path: '/api/v1/namespaces',
  parse: (raw) => {
    const meta = asRecord(asRecord(raw)['metadata']);
    const annotations = asRecord(meta['annotations']);
    const problems: string[] = [];
    const readNames = (key: string): string[] => {
      const names = asText(annotations[key])
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '');
      const excess = tooMany(`annotation ${key}`, names, { most: namespaceLimits.names, unit: 'names' });
      if (excess === undefined) return names;
      problems.push(excess);
      return [];
    };
    const own = Object.entries(annotations).filter(([key]) => ownAnnotation.test(key));
    return {
      ...objectMetaOf(meta),
      labels: toLabels(meta['labels']),
      annotations: toLabels(Object.fromEntries(own)),
      subnets: readNames('ovn.kubernetes.io/logical_switch'),
      pools: readNames('ovn.kubernetes.io/ip_pool'),
      ...(problems.length > 0 && { problems }),
    };
  },
};

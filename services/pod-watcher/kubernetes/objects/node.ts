/** Node: its internal addresses, and whether it is out of service. */
import { asRecord, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import { nodeLimits } from '../../limits.ts';
import type { ObjectMeta, ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';

export interface NodeObject extends ObjectMeta {
  /** Its addresses of type InternalIP. */
  readonly addresses: readonly string[];
  /** RFC 3339: since when it has the taint out-of-service; "" if the taint has no time, undefined without the taint. */
  readonly outOfServiceSince: string | undefined;
}

const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

export const nodes: ResourceKind<NodeObject> = {
  path: '/api/v1/nodes',
  parse: (raw) => {
    const { metadata, spec, status } = asRecord(raw);
    const addresses: unknown = asRecord(status)['addresses'];
    const internal = (Array.isArray(addresses) ? addresses : [])
      .map(asRecord)
      .filter(({ type }) => type === 'InternalIP');
    return {
      ...objectMetaOf(asRecord(metadata)),
      addresses: internal.slice(0, nodeLimits.addresses).map(({ address }) => asText(address)),
      outOfServiceSince: outOfServiceSince(asRecord(spec)['taints']),
    };
  },
};

function outOfServiceSince(taints: unknown): string | undefined {
  const taint = (Array.isArray(taints) ? taints : [])
    .map(asRecord)
    .find(({ key, effect }) => key === outOfServiceTaint && (effect === 'NoExecute' || effect === 'NoSchedule'));
  return taint && asText(taint['timeAdded']);
}

/** Node: its internal addresses, and whether it is out of service. */
import { asRecord, asRecords, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import { nodeLimits } from '../../limits.ts';
import type { ObjectMeta, ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';

export interface NodeObject extends ObjectMeta {
  /** The addresses of type InternalIP. */
  readonly addresses: readonly string[];
  /** Whether the Node has the out-of-service taint. */
  readonly isOutOfService: boolean;
}

/** The taint by which an operator declares that the machine is down. */
export const outOfServiceTaint = 'node.kubernetes.io/out-of-service';

export const nodes: ResourceKind<NodeObject> = {
  path: '/api/v1/nodes',
  parse: (raw) => {
    const { metadata, spec, status } = asRecord(raw);
    const internal = asRecords(asRecord(status)['addresses']).filter(({ type }) => type === 'InternalIP');
    return {
      ...objectMetaOf(asRecord(metadata)),
      addresses: internal.slice(0, nodeLimits.addresses).map(({ address }) => asText(address)),
      isOutOfService: isOutOfService(asRecord(spec)['taints']),
    };
  },
};

function isOutOfService(taints: unknown): boolean {
  return asRecords(taints).some(
    ({ key, effect }) => key === outOfServiceTaint && (effect === 'NoExecute' || effect === 'NoSchedule'),
  );
}

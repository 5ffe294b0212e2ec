/** Vip: an address that several Pods may share. */
import { asRecord, asText, asTexts, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { textLimits } from '../../limits.ts';
import type { ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { type CustomResource, customResourceOf } from './custom-resource.ts';
import { SpecReader } from './spec-reader.ts';

export interface VipObject extends CustomResource {
  readonly labels: UntypedJson;
  readonly spec: {
    /** The namespace whose Pods may use the Vip; "" means all namespaces. */
    readonly namespace: string;
    readonly subnet: string;
    readonly type: string;
    readonly v4ip: string;
    readonly v6ip: string;
    readonly macAddress: string;
  };
  /** Fields that request a port, a load balancer or a route, which ipledger does not make. */
  readonly ignoredFields: readonly string[];
}

export const vips: ResourceKind<VipObject> = {
  path: '/apis/kubeovn.io/v1/vips',
  parse: (raw) => {
    const { metadata, spec, status } = asRecord(raw);
    const meta = asRecord(metadata);
    const fields = asRecord(spec);
    const reader = new SpecReader(fields);
    const { nameLength, addressLength } = textLimits;
    return {
      ...customResourceOf(meta, status),
      labels: asRecord(meta['labels']),
      spec: {
        namespace: reader.closedText('namespace', nameLength),
        subnet: reader.text('subnet', nameLength),
        type: reader.text('type', nameLength),
        v4ip: reader.text('v4ip', addressLength).trim(),
        v6ip: reader.text('v6ip', addressLength).trim(),
        macAddress: reader.text('macAddress', addressLength).trim(),
      },
      ignoredFields: [
        ...['selector', 'attachSubnets'].filter((key) => asTexts(fields[key]).length > 0),
        ...(asText(fields['type']) === '' ? [] : ['type']),
      ].map((key) => `spec.${key}`),
      problems: reader.problems,
    };
  },
};

/** IP: shows one allocation, or reserves an address. */
import { allocationAnnotation } from '../../../../lib/kubernetes/kubernetes-metadata.ts';
import { asRecord, asText, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { ipLimits } from '../../limits.ts';
import type { ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { type CustomResource, customResourceOf } from './custom-resource.ts';
import { SpecReader } from './spec-reader.ts';

export interface IpObject extends CustomResource {
  /** The number of the event that made the allocation; "" if pod-watcher did not write this object. */
  readonly allocation: string;
  readonly labels: UntypedJson;
  readonly spec: UntypedJson;
}

export const ips: ResourceKind<IpObject> = {
  path: '/apis/kubeovn.io/v1/ips',
  parse: (raw) => {
    const { metadata, spec } = asRecord(raw);
    const meta = asRecord(metadata);
    const reader = new SpecReader(asRecord(spec));
    const boundedSpec = reader.bounded(ipLimits.specLength);
    reader.text('ipAddress', ipLimits.addressesLength);
    return {
      ...customResourceOf(meta, undefined),
      allocation: asText(asRecord(meta['annotations'])[allocationAnnotation]),
      labels: asRecord(meta['labels']),
      spec: boundedSpec,
      problems: reader.problems,
    };
  },
};

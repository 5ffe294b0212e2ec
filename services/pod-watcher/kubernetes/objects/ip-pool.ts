/** IPPool: addresses of a Subnet for certain Pods. */
import { asRecord } from '../../../../lib/kubernetes/untyped-json.ts';
import { poolLimits, textLimits } from '../../limits.ts';
import type { ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { type CustomResource, customResourceOf } from './custom-resource.ts';
import { SpecReader } from './spec-reader.ts';

export interface PoolObject extends CustomResource {
  readonly spec: { readonly subnet: string; readonly ips: readonly string[]; readonly namespaces: readonly string[] };
  /** Fields that request a row of OVN, which ipledger does not make. */
  readonly ignoredFields: readonly string[];
}

export const ipPools: ResourceKind<PoolObject> = {
  path: '/apis/kubeovn.io/v1/ippools',
  parse: (raw) => {
    const { metadata, spec, status } = asRecord(raw);
    const fields = asRecord(spec);
    const reader = new SpecReader(fields);
    return {
      ...customResourceOf(asRecord(metadata), status),
      spec: {
        subnet: reader.text('subnet', textLimits.nameLength),
        ips: reader.list('ips', { most: poolLimits.ips, unit: 'entries' }),
        namespaces: reader.names('namespaces', poolLimits.namespaces),
      },
      ignoredFields: fields['enableAddressSet'] === true ? ['spec.enableAddressSet'] : [],
      problems: reader.problems,
    };
  },
};

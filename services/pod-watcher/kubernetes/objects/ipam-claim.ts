/** IPAMClaim: addresses that outlive the Pods that use them, for example for a virtual machine. */
import { asRecord, asText, type UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';
import { finalizer } from '../../../../lib/kubernetes/kubernetes-metadata.ts';
import { controllerOf } from '../../../../lib/kubernetes/pod-identity.ts';
import { ipamClaimLimits, textLimits } from '../../limits.ts';
import type { ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { type CustomResource, customResourceOf } from './custom-resource.ts';
import { SpecReader } from './spec-reader.ts';

/** An IPAMClaim as in k8snetworkplumbingwg/ipamclaims. Its status is written, and never read. */
export interface IpamClaimObject extends CustomResource {
  /** Whether another program manages the IPAMClaim, judged by its controller or finalizer. */
  readonly isProduced: boolean;
  readonly spec: {
    /** The name of the network in its CNI configuration. */
    readonly network: string;
    /** The name of the interface; "" if Multus chooses it. */
    readonly interface: string;
    /** The requested addresses with prefix lengths, at most one per family; empty: any address. */
    readonly ipRequests: readonly string[];
  };
}

export const ipamClaimApi = {
  apiVersion: 'k8s.cni.cncf.io/v1alpha1',
  kind: 'IPAMClaim',
  plural: 'ipamclaims',
} as const;

export const ipamClaims: ResourceKind<IpamClaimObject> = {
  path: `/apis/${ipamClaimApi.apiVersion}/${ipamClaimApi.plural}`,
  mayBeMissing: true,
  parse: (raw) => {
    const { metadata, spec, status } = asRecord(raw);
    const reader = new SpecReader(asRecord(spec));
    const resource = customResourceOf(asRecord(metadata), status);
    return {
      ...resource,
      isProduced:
        controllerOf(asRecord(metadata)['ownerReferences']) !== undefined ||
        resource.finalizers.some((each) => each !== finalizer),
      spec: {
        network: reader.strictText('network', textLimits.nameLength),
        interface: reader.strictText('interface', textLimits.nameLength),
        ipRequests: reader.strictList('ipRequests', { most: ipamClaimLimits.ipRequests, unit: 'addresses' }),
      },
      problems: reader.problems,
    };
  },
};

/** Returns the Pod that an IPAMClaim shows as its user; "" if it shows none. */
export const ownerPodOf = (status: UntypedJson): string => asText(asRecord(status['ownerPod'])['name']);

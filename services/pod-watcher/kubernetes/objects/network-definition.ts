/** NetworkAttachmentDefinition: the CNI configuration of a network. */
import { asRecord, asText } from '../../../../lib/kubernetes/untyped-json.ts';
import { networkLimits, textLimits, tooLong } from '../../limits.ts';
import type { ObjectMeta, ResourceKind } from '../../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../../lib/kubernetes/object-meta.ts';

export interface NetworkDefinition extends ObjectMeta {
  /** The CNI configuration, as JSON text; "" if it is absent, or over its limit. */
  readonly config: string;
  /** The message about the limit that `config` exceeds. */
  readonly problem?: string;
  /** Whether Kube-OVN serves its plugin's networks, and ipledger those of its own plugin. */
  readonly besideKubeOvn?: true;
  /** The device plugin's resource that provides its NICs. */
  readonly resource?: string;
}

const resourceAnnotation = 'k8s.v1.cni.cncf.io/resourceName';

export const networkDefinitions: ResourceKind<NetworkDefinition> = {
  path: '/apis/k8s.cni.cncf.io/v1/network-attachment-definitions',
  parse: (raw) => {
    const { metadata, spec } = asRecord(raw);
    const meta = asRecord(metadata);
    const resource = asText(asRecord(meta['annotations'])[resourceAnnotation]);
    const config = asText(asRecord(spec)['config']);
    const problem = tooLong('its spec.config', config, networkLimits.configLength);
    return {
      ...objectMetaOf(meta),
      ...(problem === undefined ? { config } : { config: '', problem }),
      ...(resource !== '' && resource.length <= textLimits.nameLength && { resource }),
    };
  },
};

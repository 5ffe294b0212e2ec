/** Pods, reduced to whether their NICs request port security. */
import type { ObjectMeta, ResourceKind } from '../../../lib/kubernetes/client/informer.ts';
import { objectMetaOf } from '../../../lib/kubernetes/object-meta.ts';
import { assertedMachineOf, controllerOf, podIdentityOf } from '../../../lib/kubernetes/pod-identity.ts';
import { asRecord } from '../../../lib/kubernetes/untyped-json.ts';
import { projectorLimits } from '../limits.ts';

export interface SecuredPod extends ObjectMeta {
  /**
   * The uid in the ledger. A launcher has that of the virtual machine that it claims to run: a
   * false claim can only turn port security on, and only in its own namespace.
   */
  readonly ledgerUid: string;
  /** The providers whose NICs have port security; "ovn" means all providers. */
  readonly secured: ReadonlySet<string>;
}

const suffix = '.kubernetes.io/port_security';
const { providerLength, securedProviders } = projectorLimits;

export const securedPods: ResourceKind<SecuredPod> = {
  path: '/api/v1/pods',
  parse: (raw) => {
    const metadata = asRecord(asRecord(raw)['metadata']);
    const meta = objectMetaOf(metadata);
    const annotations = asRecord(metadata['annotations']);
    const controller = controllerOf(metadata['ownerReferences']);
    const machine = assertedMachineOf({ ...meta, controller });
    return {
      ...meta,
      ledgerUid: machine?.uid ?? podIdentityOf({ ...meta, annotations }).uid,
      secured: securedProvidersOf(annotations),
    };
  },
};

function securedProvidersOf(annotations: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const providers = Object.entries(annotations)
    .filter(([key, value]) => value === 'true' && key.endsWith(suffix) && key.length <= providerLength + suffix.length)
    .map(([key]) => key.slice(0, -suffix.length));
  return new Set(providers.slice(0, securedProviders));
}

/** Patches of finalizers, which keep an object until the ledger has retired it. Pure. */
import { finalizer, kubeOvnFinalizers } from '../../../../lib/kubernetes/kubernetes-metadata.ts';
import type { UntypedJson } from '../../../../lib/kubernetes/untyped-json.ts';

interface Finalized {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly finalizers: readonly string[];
}

/** Returns metadata of a merge patch that adds the finalizer; undefined if it is there. */
export function addFinalizerPatch({ finalizers }: Finalized): UntypedJson | undefined {
  return finalizers.includes(finalizer) ? undefined : { finalizers: [...finalizers, finalizer] };
}

/**
 * Returns the metadata of a merge patch that removes ipledger's finalizer and those of Kube-OVN;
 * undefined when the object has none of them. Kube-OVN's controller does not serve these objects,
 * so it cannot remove its own.
 */
export function removeFinalizersPatch({ finalizers }: Finalized): UntypedJson | undefined {
  const others = finalizers.filter((each) => each !== finalizer && !kubeOvnFinalizers.has(each));
  return others.length === finalizers.length ? undefined : { finalizers: others };
}

/** Returns metadata that make the API server reject a patch of another object or version. */
export function versionPrecondition({ uid, resourceVersion }: Finalized): UntypedJson {
  return { uid, resourceVersion };
}

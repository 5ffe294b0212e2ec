/** What holds an object in Kubernetes until the ledger has let go of what it stands for. Pure. */
import { finalizer, kubeOvnFinalizers } from '../../../lib/marks.ts';
import type { Raw } from '../../../lib/raw.ts';

interface Finalized {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly finalizers: readonly string[];
}

/** Metadata of a merge patch that holds the object; undefined when it is held. */
export function holding({ finalizers }: Finalized): Raw | undefined {
  return finalizers.includes(finalizer) ? undefined : { finalizers: [...finalizers, finalizer] };
}

/**
 * Metadata of a merge patch that lets the object go; undefined when nothing of ours holds it. Nor does what Kube-OVN left on it:
 * its controller, which never runs beside the watcher, is not there to remove that.
 */
export function lettingGo({ finalizers }: Finalized): Raw | undefined {
  const others = finalizers.filter((each) => each !== finalizer && !kubeOvnFinalizers.has(each));
  return others.length === finalizers.length ? undefined : { finalizers: others };
}

/** Makes the API refuse a patch of an object that is another one, or another version of it, by now. */
export function unchanged({ uid, resourceVersion }: Finalized): Raw {
  return { uid, resourceVersion };
}

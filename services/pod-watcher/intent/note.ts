/** What the watcher reports about the parts of a Pod's request that are not served here. The rest of the Pod is served. Pure. */
import type { Happening } from '../kubernetes/events.ts';
import { networksAnnotation, ovnRequestAnnotations, type Pod } from '../kubernetes/objects.ts';

/** `Warning` where the Pod cannot have what it requests, `Normal` where another plugin may serve it. */
export interface Note {
  readonly type: Happening['type'];
  readonly text: string;
}

/** A network whose addresses come from elsewhere. @param key its "namespace/name" */
export const servedElsewhere = (key: string, reason: string): Note => ({
  type: 'Normal',
  text: `${key} is not served here: ${reason}`,
});

/** A network without configuration. @param key its "namespace/name" */
export const emptyNetwork = (key: string): Note => ({
  type: 'Warning',
  text: `${key} is not served: its spec.config is empty, and Multus refuses the Pod unless each node has a CNI configuration file of that name. Write a CNI configuration into spec.config of the NetworkAttachmentDefinition, or remove it from annotation ${networksAnnotation}`,
});

/** Requests of ovn4nfv and ovn-kubernetes: no plugin here reads them. The first annotation goes before the second. */
export function notesOnAnnotations({ annotations }: Pick<Pod, 'annotations'>): Note[] {
  const key = ovnRequestAnnotations.find((each) => annotations[each] !== undefined);
  if (key === undefined) return [];
  const text = `annotation ${key} is not served: ipledger allocates addresses only for networks that ${networksAnnotation} names, so the Pod gets no NIC and no address by it. Create a NetworkAttachmentDefinition with ipam.type kube-ovn and a Subnet of its provider, and name it in ${networksAnnotation}`;
  return [{ type: 'Warning', text }];
}

/** Why a Pod gets no addresses, and which parts of its request are not served here. Pure. */
import type { PodEvent } from '../../../kubernetes/event-recorder.ts';
import { networksAnnotation } from '../../../kubernetes/objects/pod.ts';

/** `Warning` if the Pod cannot have what it requests; `Normal` if another plugin may serve it. */
export interface UnservedRequest {
  readonly type: PodEvent['type'];
  readonly text: string;
}

/** A network whose addresses come from another IPAM plugin. @param key "namespace/name" */
export const networkServedElsewhere = (key: string, reason: string): UnservedRequest => ({
  type: 'Normal',
  text: `${key} is not served here: ${reason}`,
});

/** A network without configuration. @param key "namespace/name" */
export const networkWithoutConfig = (key: string): UnservedRequest => ({
  type: 'Warning',
  text: `${key} is not served: its spec.config is empty, and Multus refuses the Pod unless each node has a CNI configuration file of that name. Write a CNI configuration into spec.config of the NetworkAttachmentDefinition, or remove it from annotation ${networksAnnotation}`,
});

/** A MAC without an address, which OVN4NFV ignores. @param where the annotation and the network */
export const macWithoutAddress = (where: string): UnservedRequest => ({
  type: 'Warning',
  text: `${where}: the requested MAC is ignored, because no address is requested with it, and the NIC gets any address and MAC. Request both, or remove the MAC`,
});

/** Why nothing can be requested for a Pod. */
export interface PlanProblem {
  /** `request`: the Pod's annotations are wrong. `cluster`: another object is. */
  readonly about: 'request' | 'cluster';
  readonly text: string;
}

export const requestProblem = (text: string): PlanProblem => ({ about: 'request', text });

export const clusterProblem = (text: string): PlanProblem => ({ about: 'cluster', text });

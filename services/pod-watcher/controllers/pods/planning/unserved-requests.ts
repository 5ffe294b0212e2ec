/** Explains why a Pod gets no addresses, and which of its requests are not served. Pure. */
import type { PodEvent } from '../../../kubernetes/event-recorder.ts';
import { networksAnnotation } from '../../../kubernetes/objects/pod.ts';

/** `Warning`: the Pod cannot have what it requests. `Normal`: another plugin may serve it. */
export interface UnservedRequest {
  readonly type: PodEvent['type'];
  readonly text: string;
}

/** Reports a network whose addresses come from another IPAM plugin. @param key "namespace/name" */
export const networkServedElsewhere = (key: string, reason: string): UnservedRequest => ({
  type: 'Normal',
  text: `${key} is not served here: ${reason}`,
});

/** Reports a network without a configuration. @param key "namespace/name" */
export const networkWithoutConfig = (key: string): UnservedRequest => ({
  type: 'Warning',
  text: `${key} is not served: its spec.config is empty, and Multus refuses the Pod unless each node has a CNI configuration file of that name. Write a CNI configuration into spec.config of the NetworkAttachmentDefinition, or remove it from annotation ${networksAnnotation}`,
});

/** Reports a MAC without an address, which OVN4NFV ignores. @param where its annotation */
export const macWithoutAddress = (where: string): UnservedRequest => ({
  type: 'Warning',
  text: `${where}: the requested MAC is ignored, because no address is requested with it, and the NIC gets any address and MAC. Request both, or remove the MAC`,
});

/** The reason why nothing can be requested for a Pod. */
export interface PlanProblem {
  /** `request`: the Pod's annotations are wrong. `cluster`: another object is wrong or missing. */
  readonly about: 'request' | 'cluster';
  readonly text: string;
}

export const requestProblem = (text: string): PlanProblem => ({ about: 'request', text });

export const clusterProblem = (text: string): PlanProblem => ({ about: 'cluster', text });

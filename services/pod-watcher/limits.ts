/**
 * Limits of the fields of Kubernetes objects. They are checked when an object arrives, before other
 * work on it, so that no tenant's object uses too many resources. docs/security.md lists them.
 * Lengths are in characters.
 */
import { truncate } from '../../lib/kubernetes/limit-messages.ts';

export { limitExceeded, tooLong, tooMany, truncate } from '../../lib/kubernetes/limit-messages.ts';

/** Limits of a Pod. */
export const podLimits = {
  /** Networks that the annotations select, including the default network. */
  attachments: 24,
  /** Entries of an `ip_pool` list; also the allocator's limit for one attachment. */
  candidates: 256,
  /** The candidates of all attachments together. */
  candidatesOfPod: 1_024,
  /** Addresses in all `ip_pool` annotations together, that is the candidates of both families. */
  poolAddresses: 2_048,
  /** Addresses in one `ip_address` annotation, or in the `ips` of a network. */
  addresses: 8,
  /** Gateways in the `default-route` of a network. */
  gateways: 8,
  /** Entries of a `routes` annotation; also the allocator's limit. */
  routes: 64,
  /** Annotations about attachments. */
  annotations: 512,
  /** Length of all annotations about attachments together. */
  annotationsLength: 65_536,
  ownerReferences: 64,
  networksLength: 16_384,
  poolLength: 16_384,
  routesLength: 8_192,
  /** Length of every other annotation about attachments. */
  annotationLength: 1_024,
} as const;

/** Limits of single names and addresses in any object. */
export const textLimits = {
  /** Linux's limit of an interface name. */
  interfaceLength: 15,
  namespaceLength: 63,
  /** Kubernetes' limit of a name. */
  nameLength: 253,
  /** Length of "<network>.<namespace>.ovn"; also the allocator's limit. */
  providerLength: 337,
  /** Length of an address with an optional prefix length, or of a MAC. */
  addressLength: 64,
} as const;

/** Limits of a Subnet. */
export const subnetLimits = {
  /** Length of `cidrBlock` and `gateway`, with one entry per family. */
  cidrLength: 128,
  /** Entries of `excludeIps`; also the allocator's limit. */
  excludeIps: 4_096,
  vips: 256,
  namespaces: 4_096,
  /** Length of `namespaceSelectors` as JSON. */
  selectorsLength: 16_384,
} as const;

/** Limits of an IPPool; also the allocator's limits. */
export const poolLimits = { ips: 4_096, namespaces: 4_096 } as const;

/** Limits of an IPAMClaim. */
export const ipamClaimLimits = {
  /** Addresses in `ipRequests`. */
  ipRequests: 2,
  /** IPAMClaims of a namespace, up to which one is created because a Pod names it. */
  perNamespace: 1_000,
} as const;

/** Limits of an IP object. */
export const ipLimits = {
  /** Length of `spec` as JSON. */
  specLength: 8_192,
  /** Length of `ipAddress`, with one address per family. */
  addressesLength: 128,
} as const;

/** Limits of a NetworkAttachmentDefinition. */
export const networkLimits = { configLength: 65_536, plugins: 32 } as const;

/** Limit of a namespace: names in its annotations `logical_switch` and `ip_pool`. */
export const namespaceLimits = { names: 256 } as const;

/** Limit of a Node: addresses that are read from its status. */
export const nodeLimits = { addresses: 32 } as const;

/** Limits of a work queue. Work that takes longer than `slowMs` is logged with its key. */
export const workQueueLimits = {
  slowMs: 1_000,
  /** The time for which a work queue starts work before it yields to the event loop. */
  sliceMs: 10,
} as const;

/** Limits of the handover state that an active watcher leaves in its Lease. */
export const handoverLimits = {
  /** Pods whose deletion was seen. The time of further Pods starts again. */
  terminatingPods: 256,
  /** Nodes that are out of service. */
  nodes: 256,
  /** Namespaces that are halted separately. */
  namespaces: 256,
} as const;

const maxDescribedKeys = 4;

/** Returns the first of many keys, and the number of the others. */
export function describeKeys(keys: readonly string[]): string {
  const named = keys.slice(0, maxDescribedKeys).map((key) => truncate(key));
  return named.join(', ') + (keys.length > named.length ? ` and ${keys.length - named.length} more` : '');
}

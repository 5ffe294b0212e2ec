/** Limits of an OVN4NFV request. The pod-watcher limits the length of the annotations. Lengths count characters. */
export const ovn4nfvLimits = {
  interfaces: 10,
  /** Also the allocator's limit of one attachment. */
  routes: 64,
  /** Limit of Kubernetes. */
  nameLength: 253,
  /** The name of the link on the node, of at most 15 characters, contains it. */
  interfaceLength: 11,
  /** An address with an optional prefix length, or a MAC. */
  addressLength: 64,
} as const;

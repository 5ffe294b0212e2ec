/** Limits of the projector's inputs, checked before other work. docs/security.md lists them. */
export const projectorLimits = {
  /** Names of objects, and other texts in their specs. Limit of Kubernetes. */
  nameLength: 253,
  /** The options of DHCP and of router advertisements, each field. */
  optionsLength: 1_024,
  /** NICs of one Pod whose port security is read; also the limit of attachments of a Pod. */
  securedProviders: 24,
  /** "<network>.<namespace>.ovn"; also the allocator's limit. */
  providerLength: 337,
  /** Rows of the northbound database that the projector copies, all tables together. */
  northboundRows: 1_000_000,
  /** New and changed rows in one transaction. */
  transactionRows: 1_000,
  /** Problems that one comparison logs. */
  loggedProblems: 100,
} as const;
